/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

#include <errno.h>
#include <string.h>

#include "util/assert.h"

/* The least room for a read. */
#define READ_BYTES 4096

/* A buffer larger than this is freed after the frame. */
#define KEEP_BYTES (256u << 10)

void wire_reader_deinit(struct wire_reader *reader)
{
	buffer_deinit(&reader->bytes);
	reader->used = 0;
}

void wire_reader_recycle(struct wire_reader *reader)
{
	if (reader->bytes.capacity > KEEP_BYTES && reader->used == reader->bytes.size)
		wire_reader_deinit(reader);
}

/* Move the bytes not yet taken to the front. */
static void compact_bytes(struct wire_reader *reader)
{
	struct buffer *bytes = &reader->bytes;
	size_t left = bytes->size - reader->used;

	if (left > 0 && reader->used > 0)
		memmove(bytes->data, bytes->data + reader->used, left);
	bytes->size = left;
	reader->used = 0;
}

char *wire_reader_space(struct wire_reader *reader, size_t *ret_size)
{
	char *space;

	wire_reader_recycle(reader);
	compact_bytes(reader);
	space = buffer_reserve(&reader->bytes, READ_BYTES);
	if (!space)
		return NULL;
	*ret_size = reader->bytes.capacity - reader->bytes.size;
	return space;
}

void wire_reader_received(struct wire_reader *reader, size_t size)
{
	check(size <= reader->bytes.capacity - reader->bytes.size);
	reader->bytes.size += size;
}

int wire_reader_next(struct wire_reader *reader, struct wire_frame *ret_frame)
{
	size_t available = reader->bytes.size - reader->used;
	struct wire_header header;

	if (available < sizeof(header))
		return WIRE_E_MORE;
	memcpy(&header, reader->bytes.data + reader->used, sizeof(header));
	if (header.kind < WIRE_LOAD || header.kind > WIRE_LAST)
		return WIRE_E_MALFORMED;
	*ret_frame = (struct wire_frame){
		.kind = (enum wire_kind)header.kind, .id = header.id, .size = header.size};
	if (header.size > reader->payload_max)
		return WIRE_E_TOO_LARGE;
	if (available - sizeof(header) < header.size)
		return WIRE_E_MORE;
	ret_frame->payload = reader->bytes.data + reader->used + sizeof(header);
	reader->used += sizeof(header) + header.size;
	return 0;
}

size_t wire_begin(struct buffer *out)
{
	static const struct wire_header header;
	size_t start = out->size;

	buffer_append(out, &header, sizeof(header));
	return start;
}

void wire_finish(struct buffer *out, size_t start, enum wire_kind kind, uint64_t id)
{
	struct wire_header header = {.kind = kind, .id = id};
	size_t size;

	check(kind >= WIRE_LOAD && kind <= WIRE_LAST);
	if (buffer_status(out))
		return;
	check(out->size - start >= sizeof(header));
	size = out->size - start - sizeof(header);
	if (size > UINT32_MAX) {
		out->error = -EMSGSIZE;
		return;
	}
	header.size = (uint32_t)size;
	memcpy(out->data + start, &header, sizeof(header));
}

void wire_write(struct buffer *out, enum wire_kind kind, uint64_t id, const void *head,
	size_t head_size, const void *body, size_t body_size)
{
	size_t start = wire_begin(out);

	buffer_append(out, head, head_size);
	buffer_append(out, body, body_size);
	wire_finish(out, start, kind, id);
}
