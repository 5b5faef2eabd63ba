/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * Numbers in the words of a person, and as speech-to-text writes them in a language: whole numbers
 * from -999,999 to 999,999 in words, and figures with the separators of the language.
 *
 *   en   twenty-one, a hundred and five, minus two thousand, 1,000
 *   de   einundzwanzig, hundertfünf, minus zweitausend, 1.000, 3,5
 *
 * The words of each language are a table. A number is read from left to right by the grammar
 *
 *   number  = [minus] [group thousand] [group]
 *   group   = [[unit] hundred] [and] [below]
 *   below   = tens [unit] | unit and tens (where the language has units first) | teen | unit
 *
 * Spaces and hyphens between words may be there or not, so compounds are read like separate words.
 * The whole text has to be one number: "three four" is not 34.
 */
struct number_language;

/* Return the language for @tag (util/text/language_tag.h); NULL: there is no table for it. */
const struct number_language *number_words_find(struct text_view tag);

/* Append the number in the @size bytes at @text, as JSON, by the table @language, a struct
 * number_language (struct schema_words). Return false when the text is no number in words, and no
 * figures with separators: other figures are left to JSON. */
bool number_words_read(const void *language, const char *text, size_t size, struct buffer *out);
