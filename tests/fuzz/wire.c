/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "wire/ring.h"
#include "wire/wire.h"

/*
 * The stream of a hostile host, in reads of any size: its first byte chooses the size. Whatever
 * comes, frames keep to the limit, lie within what was received, and memory to what had to be kept.
 * Then the same bytes come through a ring, as parts with counts that may be anything.
 */

#define PAYLOAD_MAX  256
#define CAPACITY_MAX (4 * 4096)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(const struct wire_reader *reader, const struct wire_frame *frame)
{
	const char *begin = reader->bytes.data;

	if (frame->size > PAYLOAD_MAX)
		abort();
	if (frame->payload < begin || frame->payload + frame->size > begin + reader->bytes.size)
		abort();
}

/* Take all frames. False when the stream is of no more use. */
static bool take_frames(struct wire_reader *reader)
{
	struct wire_frame frame;
	int r;

	while ((r = wire_reader_next(reader, &frame)) == 0)
		check_frame(reader, &frame);
	if (r == WIRE_E_TOO_LARGE && frame.size <= PAYLOAD_MAX)
		abort();
	return r == WIRE_E_MORE;
}

/* The writing of a hostile host between two looks of the daemon. */
struct part {
	uint32_t written;
	uint32_t place;
	char bytes[24];
};

/* Take what is in the ring. False when the host is of no more use. */
static bool take_ring(struct ring *ring, struct wire_reader *reader)
{
	uint32_t before = ring->read;
	uint32_t written = atomic_load(&ring->memory->written);
	int r = ring_take(ring, reader);

	if (r < 0)
		return false;
	if (ring->read != written || ring->read - before > RING_BYTES)
		abort();
	return take_frames(reader);
}

static void read_ring(const uint8_t *data, size_t size)
{
	struct wire_reader reader = {.payload_max = PAYLOAD_MAX};
	struct ring ring;
	struct part part;

	if (ring_init(&ring) < 0)
		abort();
	for (size_t at = 0; size - at >= sizeof(part); at += sizeof(part)) {
		memcpy(&part, data + at, sizeof(part));
		memcpy(ring.memory->bytes + part.place % (RING_BYTES - sizeof(part.bytes)),
			part.bytes, sizeof(part.bytes));
		atomic_store(&ring.memory->written, part.written);
		if (!take_ring(&ring, &reader))
			break;
		if (reader.bytes.capacity > CAPACITY_MAX + RING_BYTES)
			abort();
	}
	wire_reader_deinit(&reader);
	ring_deinit(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_reader reader = {.payload_max = PAYLOAD_MAX};
	size_t step = size > 0 ? data[0] + 1u : 1;

	for (size_t at = 1; at < size; at += step) {
		size_t part = size - at < step ? size - at : step;
		size_t room;
		char *space = wire_reader_space(&reader, &room);

		if (!space || room < part)
			abort();
		memcpy(space, data + at, part);
		wire_reader_received(&reader, part);
		if (!take_frames(&reader))
			break;
		if (reader.bytes.capacity > CAPACITY_MAX)
			abort();
	}
	wire_reader_deinit(&reader);
	read_ring(data, size);
	return 0;
}
