/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * base64 by RFC 4648 §4: the alphabet with `+` and `/`, padded to whole groups of four, without
 * line breaks. Reading is strict (§3.3, §3.5): no white space, no other alphabet, and the unused
 * bits of the last character are zero, so every sequence of bytes has exactly one text.
 */

/* Append the text of the @size bytes at @bytes to @out (see buffer_status). */
void base64_encode(const void *bytes, size_t size, struct buffer *out);

/* Return whether the @size bytes at @text are base64. */
bool base64_is_valid(const char *text, size_t size);

/* Return how many bytes the valid @text of @size bytes decodes to. */
size_t base64_decoded_size(const char *text, size_t size);

/* Decode the valid @text of @size bytes to @ret_bytes, which has room for base64_decoded_size()
 * bytes. */
void base64_decode(const char *text, size_t size, void *ret_bytes);
