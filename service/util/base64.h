/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * base64 as RFC 4648 §4 has it: `+` and `/`, padded to whole groups of four, nothing between them.
 * Reading is strict (§3.3, §3.5): no white space, no other alphabet, and the bits that stand behind
 * the last byte are zero, so that bytes have one text only.
 */

/* Append the text of the @size bytes at @bytes to @out (see buffer_status). */
void base64_encode(const void *bytes, size_t size, struct buffer *out);

/* Whether the @size bytes at @text are base64. */
bool base64_is_valid(const char *text, size_t size);

/* How many bytes the valid @text of @size bytes stands for. */
size_t base64_decoded_size(const char *text, size_t size);

/* Write the bytes that the valid @text of @size bytes stands for to @ret_bytes, which has room for
 * base64_decoded_size() of them. */
void base64_decode(const char *text, size_t size, void *ret_bytes);
