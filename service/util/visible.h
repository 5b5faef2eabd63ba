/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * Text of strangers for a terminal or a log: every character is visible, and changes nothing around
 * it.
 *
 * Hidden are the control characters (C0, DEL, C1), which a terminal obeys or which end a line; the
 * separators of lines and paragraphs; the marks of annotations (U+FFF9 to U+FFFB); and all that
 * Unicode calls Default_Ignorable_Code_Point: without width, of the writing direction (UAX 9),
 * which make a text look like another one, fillers, tags, selectors of variants, and such. They are
 * escaped as \uXXXX, which is also the JSON escape: above U+FFFF of two surrogates. A byte that is
 * not UTF-8 becomes U+FFFD.
 *
 * Two kinds are seen by their effect and stay: a joiner (U+200C, U+200D) between two letters of a
 * script that has joiners, or between emoji; and the selector of a style (U+FE0E, U+FE0F) after a
 * character that has two.
 */

/* The most bytes for one character, with a selector and a joiner, or escaped. */
#define VISIBLE_BYTES 12

/* No hidden character has this code point. */
#define VISIBLE UINT32_MAX

/* Return the size of the first character of the @size > 0 bytes at @text, with the selector and the
 * joiner that belong to it, or 0 when it is not UTF-8. *ret_hidden: its code point if it is a
 * hidden one, else VISIBLE. */
size_t visible_take(const char *text, size_t size, uint32_t *ret_hidden);

/* Write to @ret_bytes the *ret_size bytes that show the first character of the @size > 0 bytes at
 * @text. Return how many bytes it has there. */
size_t visible_next(const char *text, size_t size, char ret_bytes[VISIBLE_BYTES], size_t *ret_size);

/* Append all of @text. */
void visible_append(struct buffer *out, const char *text, size_t size);

/* As visible_append(), but line feeds are kept: for indented JSON, whose strings have none. */
void visible_append_lines(struct buffer *out, const char *text, size_t size);
