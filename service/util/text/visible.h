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
 * separators of lines and paragraphs; the marks of annotations (U+FFF9 to U+FFFB); and all
 * Default_Ignorable_Code_Points of Unicode: without width, of the writing direction (UAX 9), which
 * disguise a text as another, fillers, tags, selectors of variants, and such. They are escaped as
 * \uXXXX, which is also the JSON escape: above U+FFFF of two surrogates. A byte other than UTF-8
 * becomes U+FFFD.
 *
 * Two kinds are seen by their effect and stay: a joiner (U+200C, U+200D) between two letters of a
 * script with joiners, or between emoji; and the selector of a style (U+FE0E, U+FE0F) after a
 * character with two styles.
 */

/* The most bytes for one character, with a selector and a joiner, or escaped. */
#define VISIBLE_BYTES 12

/* No hidden character has this code point. */
#define VISIBLE UINT32_MAX

/* Return the size of the first character of the @size > 0 bytes at @text, with its selector and
 * joiner, or 0 for bytes other than UTF-8. *ret_hidden: the code point of a hidden character, else
 * VISIBLE. */
size_t visible_take(const char *text, size_t size, uint32_t *ret_hidden);

/* Write to @ret_bytes the *ret_size bytes for display of the first character of the @size > 0 bytes
 * at @text. Return how many bytes the character has at @text. */
size_t visible_next(const char *text, size_t size, char ret_bytes[VISIBLE_BYTES], size_t *ret_size);

/* Append all of @text. */
void visible_append(struct buffer *out, const char *text, size_t size);

/* As visible_append(), but line feeds are kept: for indented JSON, whose strings have none. */
void visible_append_lines(struct buffer *out, const char *text, size_t size);
