/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/text/text_view.h"

/*
 * A growing run of bytes that remembers failure.
 *
 * Text is built by many small appends, and checking each of them would hide the text in the code.
 * So a buffer that cannot grow (out of memory, or past its limit) records the error and ignores
 * every further append. The caller asks once, at the end, by buffer_status(). A zeroed struct is an
 * empty buffer without a limit.
 */
struct buffer {
	char *data;      /* @size bytes, not NUL-terminated; NULL while nothing was appended */
	size_t size;     /* bytes in use */
	size_t capacity; /* bytes allocated */
	size_t limit;    /* most bytes it may hold; 0: no limit */
	int error;       /* 0, or the first failure: -ENOMEM, or -EMSGSIZE (past the limit) */
};

/* Free the bytes. The buffer is empty again and keeps its limit. */
void buffer_deinit(struct buffer *buffer);

/* Drop the contents and the error, but keep the memory for the next use. */
void buffer_reset(struct buffer *buffer);

/* Reset the buffer, and free its memory above @kept_bytes: one large use must not keep memory for
 * ever. */
void buffer_recycle(struct buffer *buffer, size_t kept_bytes);

/* Return 0 if every append succeeded, else -ENOMEM or -EMSGSIZE. */
static inline int buffer_status(const struct buffer *buffer)
{
	return buffer->error;
}

/* Return the contents: "" and not NULL while nothing was appended. */
static inline const char *buffer_text(const struct buffer *buffer)
{
	return buffer->data ? buffer->data : "";
}

/* The same with their size. */
static inline struct text_view buffer_view(const struct buffer *buffer)
{
	return (struct text_view){buffer_text(buffer), buffer->size};
}

/* Make room for @size more bytes. Return where they go (the caller then raises buffer->size), or
 * NULL with the error recorded. */
char *buffer_reserve(struct buffer *buffer, size_t size);

/* Append @size bytes from @bytes. */
static inline void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	char *place = buffer_reserve(buffer, size);

	if (!place || size == 0)
		return;
	memcpy(place, bytes, size);
	buffer->size += size;
}

/* Append one byte. */
static inline void buffer_append_char(struct buffer *buffer, char byte)
{
	buffer_append(buffer, &byte, 1);
}

/* Append the NUL-terminated @text, without its NUL. */
static inline void buffer_append_string(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

/* Let @buffer, made of @part, fail with it. */
static inline void buffer_fail_with(struct buffer *buffer, const struct buffer *part)
{
	if (buffer->error == 0)
		buffer->error = part->error;
}

/* Append the contents of @part; a failed part fails the whole. */
static inline void buffer_append_buffer(struct buffer *buffer, const struct buffer *part)
{
	buffer_fail_with(buffer, part);
	buffer_append(buffer, part->data, part->size);
}

/* Return whether @a and @b have the same bytes. */
static inline bool buffer_equals(const struct buffer *a, const struct buffer *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Return whether @buffer has the bytes of @text. */
static inline bool buffer_is(const struct buffer *buffer, const char *text)
{
	return text_is(buffer->data, buffer->size, text);
}

/* Append formatted text. */
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Append a NUL not counted in size: data is a string. Return the text, or NULL with the error
 * recorded. */
char *buffer_terminate(struct buffer *buffer);

/* Hand over the contents as a NUL-terminated string that the caller frees; the buffer is empty
 * again, and the string has no room to grow. Return NULL if anything failed. @ret_size (may be
 * NULL) is the length without the NUL. */
char *buffer_take(struct buffer *buffer, size_t *ret_size);
