/* SPDX-License-Identifier: Apache-2.0 */
#include "search/words.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "search/fold.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* The most letters after an apostrophe that are no word: s, t, d, m, ll, re, ve. */
#define CONTRACTED_MAX 2

struct words {
	struct sb_stemmer *stemmer;
	struct buffer folded;
	char word[WORDS_WORD_BYTES];
	size_t size; /* the bytes of the word */
};

/* One walk over a text. */
struct walk {
	struct words *words;
	words_function take;
	void *data;
	bool goes_on;
};

/* ── libstemmer ──────────────────────────────────────────────────────────────────────────────── */

static struct {
	__typeof__(&sb_stemmer_new) make;
	__typeof__(&sb_stemmer_delete) free;
	__typeof__(&sb_stemmer_stem) stem;
	__typeof__(&sb_stemmer_length) length;
} libstemmer;

static bool is_loaded;
static pthread_once_t is_looked_for = PTHREAD_ONCE_INIT;

static void look_for_libstemmer(void)
{
	void *library = dlopen(STEMMER_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	libstemmer.make = dlsym(library, "sb_stemmer_new");
	libstemmer.free = dlsym(library, "sb_stemmer_delete");
	libstemmer.stem = dlsym(library, "sb_stemmer_stem");
	libstemmer.length = dlsym(library, "sb_stemmer_length");
	is_loaded = libstemmer.make && libstemmer.free && libstemmer.stem && libstemmer.length;
}

int words_new(const char *stemmer, struct words **ret_words, const char **ret_reason)
{
	struct words *words;

	pthread_once(&is_looked_for, look_for_libstemmer);
	*ret_reason = STEMMER_SONAME " cannot be loaded: install libstemmer";
	if (!is_loaded)
		return -ELIBACC;
	words = calloc(1, sizeof(*words));
	if (!words)
		return -ENOMEM;
	words->stemmer = libstemmer.make(stemmer, NULL);
	if (!words->stemmer) {
		free(words);
		*ret_reason = STEMMER_SONAME " has no stemmer for search.language";
		return -ELIBACC;
	}
	*ret_words = words;
	return 0;
}

void words_free(struct words *words)
{
	if (!words)
		return;
	libstemmer.free(words->stemmer);
	buffer_deinit(&words->folded);
	free(words);
}

/* ── a word ──────────────────────────────────────────────────────────────────────────────────── */

/* Append the @size bytes of one character to the word. */
static void add_letter(struct words *words, const char *letter, size_t size)
{
	if (words->size + size > sizeof(words->word))
		return;
	memcpy(words->word + words->size, letter, size);
	words->size += size;
}

/* Pass on the stem of the word so far, if there is one. */
static void end_word(struct walk *walk)
{
	struct words *words = walk->words;
	const sb_symbol *stem;

	if (words->size > 0 && walk->goes_on) {
		stem = libstemmer.stem(
			words->stemmer, (const sb_symbol *)words->word, (int)words->size);
		walk->goes_on = stem && walk->take(walk->data, (const char *)stem,
						(size_t)libstemmer.length(words->stemmer));
	}
	words->size = 0;
}

/* Return the byte after the apostrophe at @at of @text and the short end of a word that follows; or
 * @at + 1. */
static size_t skip_contraction(const char *text, size_t size, size_t at)
{
	size_t end = at + 1;

	while (end < size && isalnum((unsigned char)text[end]))
		end++;
	return end - at - 1 <= CONTRACTED_MAX ? end : at + 1;
}

/* ── a text ──────────────────────────────────────────────────────────────────────────────────── */

/* Return whether a new word of a name begins with the capital at @at. */
static bool is_hump(const char *text, size_t size, size_t at)
{
	if (at == 0 || !isupper((unsigned char)text[at]))
		return false;
	return islower((unsigned char)text[at - 1]) || isdigit((unsigned char)text[at - 1]) ||
	       (isupper((unsigned char)text[at - 1]) && at + 1 < size &&
		       islower((unsigned char)text[at + 1]));
}

/* Walk over a text of ASCII alone. */
static void walk_plain(struct walk *walk, const char *text, size_t size, bool is_name)
{
	size_t at = 0;

	while (at < size && walk->goes_on) {
		char letter = (char)tolower((unsigned char)text[at]);

		if (!isalnum((unsigned char)text[at])) {
			bool is_apostrophe = text[at] == '\'' && walk->words->size > 0;

			end_word(walk);
			at = is_apostrophe ? skip_contraction(text, size, at) : at + 1;
			continue;
		}
		if (is_name && is_hump(text, size, at))
			end_word(walk);
		add_letter(walk->words, &letter, 1);
		at++;
	}
	end_word(walk);
}

/* Walk over a folded text. */
static void walk_folded(struct walk *walk, const char *text, size_t size)
{
	static const uint32_t apostrophes[] = {'\'', 0x2019};
	size_t at = 0;

	while (at < size && walk->goes_on) {
		size_t start = at;
		uint32_t code = fold_next(text, size, &at);
		enum fold_class class = fold_class(code);
		bool is_apostrophe =
			walk->words->size > 0 && (code == apostrophes[0] || code == apostrophes[1]);

		if (class != FOLD_LETTER)
			end_word(walk);
		if (class != FOLD_SEPARATOR)
			add_letter(walk->words, text + start, at - start);
		if (class == FOLD_ALONE)
			end_word(walk);
		if (is_apostrophe)
			at = skip_contraction(text, size, at - 1);
	}
	end_word(walk);
}

static bool is_ascii(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

int words_each(struct words *words, const char *text, size_t size, bool is_name,
	words_function take, void *data)
{
	struct walk walk = {words, take, data, true};

	size = utf8_cut(text, size, WORDS_TEXT_BYTES);
	words->size = 0;
	/* Without libunistring the words in ASCII are found at least: other bytes separate them. */
	if (is_ascii(text, size) || !fold_load()) {
		walk_plain(&walk, text, size, is_name);
		return 0;
	}
	buffer_recycle(&words->folded, WORDS_TEXT_BYTES);
	fold_text(text, size, &words->folded);
	if (buffer_status(&words->folded) < 0)
		return buffer_status(&words->folded);
	walk_folded(&walk, words->folded.data, words->folded.size);
	return 0;
}
