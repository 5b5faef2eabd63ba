/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The words of a text, as the index has them.
 *
 *   "Sets the alarms' times"    split ─▶ folded (fold.h) ─▶ stem ─▶ set the alarm time
 *   "readXMLDrive" (a name)     split at capitals, too           ─▶ read xml drive
 *
 * A word is a run of letters and digits, or one ideograph. A name is also split before a capital
 * after a small letter, and before the last capital of a run. The short end of a word after an
 * apostrophe ("what's", "don't") is left out. The stems are libstemmer's, which is loaded with the
 * first reader: its tables would cost every start 80 pages.
 */
struct words;

#define WORDS_TEXT_BYTES 16384 /* a longer text is read to this byte */
#define WORDS_WORD_BYTES 64    /* a longer word is cut */

/* Take the @size bytes of the stem at @stem, good until the function returns. Return whether to go
 * on. */
typedef bool (*words_function)(void *data, const char *stem, size_t size);

/* Make *@ret_words a reader with the stemmer called @stemmer (search/language.h). Return 0,
 * -ENOMEM, or -ELIBACC with a text for a person at *@ret_reason, valid until the next
 * dlopen(3). */
int words_new(const char *stemmer, struct words **ret_words, const char **ret_reason);

/* Takes NULL. */
void words_free(struct words *words);

/* Call @take with @data for each word in the @size bytes of UTF-8 at @text. @is_name: it is split
 * as a name. Return 0, or -ENOMEM. */
int words_each(struct words *words, const char *text, size_t size, bool is_name,
	words_function take, void *data);
