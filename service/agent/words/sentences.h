/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Sentences of a text, as it comes: each is spoken while the next is still being written.
 *
 * A sentence ends by the rules of Unicode (UAX 29, Sentence Boundaries): after a terminator with
 * its quotes and spaces, or after a line. A full stop ends none before a lower-case letter or a
 * digit ("3.14"), inside of a name ("U.S."), or after an abbreviation ("Dr.", "z. B.") or a day
 * ("am 3. Mai"). The letter after the spaces decides, so it has to come first.
 *
 * The classes of characters need a LC_CTYPE of UTF-8.
 */

/* A longer text without an end is cut at a space. */
#define SENTENCE_BYTES 2000

/* Take one sentence, without white space around it, with a letter or a digit. */
typedef void (*sentence_function)(void *data, const char *text, size_t size);

/* Pass each sentence that has its end in @held and the next @size bytes to @receive; the rest is
 * kept in @held. @is_end: nothing follows. Without memory @held fails. */
void sentences_take(struct buffer *held, const char *text, size_t size, bool is_end,
	sentence_function receive, void *data);
