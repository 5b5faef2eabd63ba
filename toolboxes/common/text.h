/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A text that grows. A zeroed struct is empty. Without memory it has failed: more is ignored, and
 * the caller asks once, at the end. */
struct text {
	char *data; /* NUL-terminated; NULL: empty */
	size_t size;
	size_t room;
	bool has_failed;
};

void text_add(struct text *text, const char *bytes, size_t size);
void text_put(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append @size bytes of a file, or of its name. Bytes that are not UTF-8 become U+FFFD. */
void text_add_lossy(struct text *text, const char *bytes, size_t size);

/* Append @size bytes, which are UTF-8, as a string of JSON, with its quotes. */
void text_add_json(struct text *text, const char *bytes, size_t size);

/* Append a name of a file. Bytes that are not UTF-8, and control characters, become \xNN. */
void text_add_name(struct text *text, const char *name);

/* Return the text, "" when it is empty. */
const char *text_string(const struct text *text);

void text_free(struct text *text);

/* Return the size of the character at @bytes; 0: the bytes are not UTF-8. */
size_t utf8_size(const char *bytes, size_t size);

/* Return the number of bytes of the first @max characters of @bytes, all if there are fewer.
 * *ret_characters is their number. */
size_t utf8_prefix(const char *bytes, size_t size, size_t max, size_t *ret_characters);

/* Return the value of the hexadecimal digit @digit, or -1. */
int hex_value(char digit);

/* Replace each \xNN of @name, as text_add_name() has it, by its byte. Return whether it has one. */
bool name_decode(char *name);

#endif
