/* SPDX-License-Identifier: Apache-2.0 */
#include "util/buffer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/cleanup.h"

#define BUFFER_FIRST_CAPACITY 256

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){.limit = buffer->limit};
}

void buffer_reset(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->error = 0;
}

void buffer_recycle(struct buffer *buffer, size_t kept_bytes)
{
	if (buffer->capacity > kept_bytes)
		buffer_deinit(buffer);
	buffer_reset(buffer);
}

static int grow_buffer(struct buffer *buffer, size_t needed)
{
	size_t capacity = buffer->capacity ? buffer->capacity : BUFFER_FIRST_CAPACITY;
	char *data;

	while (capacity < needed) {
		if (capacity > SIZE_MAX / 2)
			return -ENOMEM;
		capacity *= 2;
	}
	data = realloc(buffer->data, capacity);
	if (!data)
		return -ENOMEM;
	buffer->data = data;
	buffer->capacity = capacity;
	return 0;
}

/* Reserve room for @size more bytes, without regard to the limit. */
static char *reserve(struct buffer *buffer, size_t size)
{
	if (buffer->error)
		return NULL;
	if (size > SIZE_MAX - buffer->size)
		buffer->error = -ENOMEM;
	else if (!buffer->data || buffer->size + size > buffer->capacity)
		buffer->error = grow_buffer(buffer, buffer->size + size);
	return buffer->error ? NULL : buffer->data + buffer->size;
}

char *buffer_reserve(struct buffer *buffer, size_t size)
{
	/* Mostly there is room, and no limit. */
	if (!buffer->error && !buffer->limit && size < buffer->capacity - buffer->size)
		return buffer->data + buffer->size;
	if (!buffer->error && buffer->limit &&
		(size > buffer->limit || buffer->size > buffer->limit - size))
		buffer->error = -EMSGSIZE;
	return reserve(buffer, size);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
	/* Most text fits into the present or the first room: then it is formatted once. */
	char *place = reserve(buffer, 1);
	size_t room = buffer->capacity - buffer->size;
	va_list again;
	int length;

	if (!place)
		return;
	va_copy(again, arguments);
	length = vsnprintf(place, room, format, again);
	va_end(again);
	if (length < 0) {
		buffer->error = buffer->error ? buffer->error : -EINVAL;
		return;
	}
	if (!buffer_reserve(buffer, (size_t)length))
		return;
	/* vsnprintf writes a NUL after the text, neither a part of the text nor limited. */
	if ((size_t)length >= room) {
		place = reserve(buffer, (size_t)length + 1);
		if (!place)
			return;
		vsnprintf(place, (size_t)length + 1, format, arguments);
	}
	buffer->size += (size_t)length;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
}

char *buffer_terminate(struct buffer *buffer)
{
	char *place = reserve(buffer, 1);

	if (!place)
		return NULL;
	*place = '\0';
	return buffer->data;
}

char *buffer_take(struct buffer *buffer, size_t *ret_size)
{
	char *text;

	if (!buffer_terminate(buffer))
		return NULL;
	if (ret_size)
		*ret_size = buffer->size;
	/* Many short texts stay as long as the catalogue: their room to grow would be half of the
	 * memory of a tool. */
	text = realloc(buffer->data, buffer->size + 1);
	if (!text) {
		buffer->error = -ENOMEM;
		return NULL;
	}
	buffer->data = NULL;
	buffer_deinit(buffer);
	return text;
}
