/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */

/* Bytes (1 to 4) of the well-formed sequence at the start of @text, of which @size > 0 bytes may be
 * read; 0 when there is none. */
size_t utf8_sequence_length(const char *text, size_t size);

/* Whether all @size bytes are well-formed. */
bool utf8_is_valid(const char *text, size_t size);

/* Code points in @size bytes of well-formed text. */
size_t utf8_count(const char *text, size_t size);

/* The most bytes, at most @size, that hold at most @points code points of well-formed text. */
size_t utf8_prefix(const char *text, size_t size, size_t points);

/* Write the code point @code as UTF-8 to @ret (room for 4 bytes). Returns the bytes written. */
size_t utf8_encode(unsigned int code, char *ret);
