/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * JSON text by appending to a buffer: for messages of a known shape. Commas and brackets are the
 * caller's (plain buffer_append_string); these functions write values that need care.
 */

/* Longest text of a double: "-2.2250738585072014e-308". */
#define JSON_NUMBER_BYTES 32

/* Append a string with its quotes: quotes, backslashes and control characters are escaped, other
 * characters are unchanged. @text must be UTF-8. */
void json_write_string(struct buffer *out, const char *text, size_t size);

/* As json_write_string, for a NUL-terminated @text; NULL gives null. */
void json_write_text(struct buffer *out, const char *text);

/* As json_write_string, for bytes of any kind: bytes other than UTF-8 become U+FFFD. */
void json_write_bytes_lossy(struct buffer *out, const char *bytes, size_t size);

/* As json_write_string, for the contents of @text; a failed one fails @out. */
void json_write_buffer(struct buffer *out, const struct buffer *text);

void json_write_i64(struct buffer *out, int64_t value);
void json_write_u64(struct buffer *out, uint64_t value);

/* The shortest text with the same value, with ".0" where whole ("3.0", "1e+300"); locale does not
 * matter. @value must be finite. The float at its own precision. */
void json_write_f64(struct buffer *out, double value);
void json_write_f32(struct buffer *out, float value);

/* `"key":` — a key that needs no escapes, and the colon. */
void json_write_key(struct buffer *out, const char *key);

/* The value at @index without white space between its tokens, else byte for byte. */
void json_write_compact(struct buffer *out, const struct json_tape *tape, uint32_t index);

/* Append the JSON text of @size bytes at @json, taken by the reader, without white space, for
 * people and models: an unneeded escape becomes its character. */
void json_write_readable(struct buffer *out, const char *json, size_t size);

/* The value at @index indented by @indent spaces a level, for people. */
void json_write_indented(
	struct buffer *out, const struct json_tape *tape, uint32_t index, unsigned int indent);

/* Append `/token` to a JSON Pointer (RFC 6901 §3): '~' becomes ~0, '/' becomes ~1. */
void json_pointer_append(struct buffer *pointer, const char *token, size_t size);
void json_pointer_append_index(struct buffer *pointer, uint32_t index);

/* Append a comma, unless the text is empty or ends with the begin of an object or an array. */
void json_write_comma(struct buffer *out);

/* Append the array of the @n @texts. */
void json_write_texts(struct buffer *out, char *const *texts, size_t n);

/* Append `"key":`, after a comma as json_write_comma() writes it. */
void json_write_member(struct buffer *out, const char *key);

/* The same with its value: a text (NULL gives null; bytes other than UTF-8 become U+FFFD), a
 * number, JSON of @size bytes, or the value at @index as json_write_compact() writes it. */
void json_write_member_text(struct buffer *out, const char *key, const char *text);
void json_write_member_u64(struct buffer *out, const char *key, uint64_t value);
void json_write_member_json(struct buffer *out, const char *key, const char *json, size_t size);
void json_write_member_value(
	struct buffer *out, const char *key, const struct json_tape *tape, uint32_t index);

/* Append the member whose key is at @key, after such a comma. */
void json_write_member_copy(struct buffer *out, const struct json_tape *tape, uint32_t key);

/* Append the value @by of @over, merged with the value @at of @under if both are objects: member by
 * member, at every depth. Anything else (lists and null too) replaces what @under has. */
void json_write_merged(struct buffer *out, const struct json_tape *under, uint32_t at,
	const struct json_tape *over, uint32_t by);
