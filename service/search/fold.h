/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * Text as a search compares it: without differences of compatibility, case and accents.
 *
 *   "Größe ①, Café" ─ NFKD ─ case folding ─ NFKD ─ without accents ─▶ "grosse 1, cafe"
 *
 * libunistring has the tables (UAX #15; Unicode 5.18.4, default case folding). It is loaded with
 * the first text outside of ASCII: linked, it would cost every start, and few searches need it.
 * libidn2, which the formats of JSON Schema need, brings it anyway.
 */

enum fold_class {
	FOLD_SEPARATOR,
	FOLD_LETTER, /* a part of a word: a letter, a digit, a mark */
	FOLD_ALONE,  /* a word of its own: an ideograph */
};

/* Load libunistring. Return whether it is there. */
bool fold_load(void);

/* Append the @size bytes of UTF-8 at @text to @out, folded; after fold_load(). */
void fold_text(const char *text, size_t size, struct buffer *out);

/* Return the code point at *@at of the @size bytes of UTF-8 at @text, and move *@at after it; after
 * fold_load(). */
uint32_t fold_next(const char *text, size_t size, size_t *at);

/* Return the class of the code point @code; after fold_load(). */
enum fold_class fold_class(uint32_t code);
