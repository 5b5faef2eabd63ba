/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Skipping without checking: for finding where a value ends before anybody cares whether it is
 * valid. Strings and brackets are respected, nothing else is looked at; whoever uses the value
 * reads it with the reader.
 */

/* As json_scan_space(), for white space that may be long. */
size_t json_scan_long_space(const char *text, size_t size, size_t at);

/* Return the offset after the white space at @at; at most @size. */
static inline size_t json_scan_space(const char *text, size_t size, size_t at)
{
	/* Mostly there is none, or one space. */
	if (at < size && text[at] == ' ')
		at++;
	if (at < size && (unsigned char)text[at] > ' ')
		return at;
	return json_scan_long_space(text, size, at);
}

/* Return the offset after the string with its opening quote at @at; 0 when it does not end. */
size_t json_scan_string(const char *text, size_t size, size_t at);

/* Return whether the string at @quoted, of @size bytes with its quotes, has neither escapes, nor
 * control characters, nor bytes above 0x7F: then it is JSON. */
bool json_scan_is_plain(const char *quoted, size_t size);

/* Return the offset after the value at @at (without white space before it); 0 when it does not end
 * within @size bytes or none starts there. */
size_t json_scan_value(const char *text, size_t size, size_t at);

/* Return whether the text may have more than @values values: as many commas and opening brackets,
 * inside of strings too. Keys do not count. */
bool json_scan_is_dense(const char *text, size_t size, size_t values);
