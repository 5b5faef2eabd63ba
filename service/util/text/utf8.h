/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */

/* Return the size (1 to 4 bytes) of the well-formed sequence at the start of @text, of which @size
 * > 0 bytes may be read; 0 without one. */
size_t utf8_sequence_length(const char *text, size_t size);

/* Return whether all @size bytes are well-formed. */
bool utf8_is_valid(const char *text, size_t size);

/* Return the number of code points in @size bytes of well-formed text. */
size_t utf8_count(const char *text, size_t size);

/* Return the size of the longest prefix of at most @size bytes and at most @points code points. The
 * text is well-formed. */
size_t utf8_prefix(const char *text, size_t size, size_t points);

/* Write the code point @code as UTF-8 to @ret, which has room for 4 bytes. Return the number of
 * bytes. */
size_t utf8_encode(unsigned int code, char *ret);

/* Return the size of the longest beginning of @text, of at most @size_max bytes, without a cut
 * character. Bytes other than UTF-8 may be cut anywhere. */
size_t utf8_cut(const char *text, size_t size, size_t size_max);

/* Append @text with U+FFFD in place of each byte outside of well-formed sequences. */
void utf8_repair(const char *text, size_t size, struct buffer *out);
