/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/buffer.h"

/*
 * Text of strangers for a terminal or a log: every character is visible, and changes nothing around
 * it.
 *
 * Escaped as \uXXXX are the control characters (C0, DEL, C1), which a terminal obeys or which end a
 * line; the separators of lines and paragraphs; and the controls of the writing direction (Unicode
 * UAX 9), which make a text look like another one. A byte that is not UTF-8 becomes U+FFFD. An escape
 * is also the JSON escape of the character.
 */

/* The most bytes for one character. */
#define VISIBLE_BYTES 6

/* Write to @ret_bytes the *ret_size bytes that show the first character of the @size > 0 bytes at
 * @text. Return how many bytes it has there. */
size_t visible_next(const char *text, size_t size, char ret_bytes[VISIBLE_BYTES], size_t *ret_size);

/* Append all of @text. */
void visible_append(struct buffer *out, const char *text, size_t size);

/* As visible_append(), but line feeds are kept: for indented JSON, whose strings have none. */
void visible_append_lines(struct buffer *out, const char *text, size_t size);
