/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

/*
 * The stream of a hostile host, in reads of any size: its first byte chooses the size. Whatever
 * comes, frames keep to the limit, lie within what was received, and memory to what had to be kept.
 */

#define PAYLOAD_MAX 256

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
		if (reader.bytes.capacity > 4 * 4096)
			abort();
	}
	wire_reader_deinit(&reader);
	return 0;
}
