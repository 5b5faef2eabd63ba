/* SPDX-License-Identifier: Apache-2.0 */
#include "search/words.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "search/language.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* The words of texts, as the index has them. */

static bool note_word(void *data, const char *stem, size_t size)
{
	struct buffer *out = data;

	buffer_append_string(out, out->size > 0 ? " " : "");
	buffer_append(out, stem, size);
	return true;
}

/* The words of @text are @expected, with spaces between them. */
static void expect_words(
	const char *stemmer, const char *text, size_t size, bool is_name, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct words *words;
	const char *reason = NULL;

	cr_assert_eq(words_new(stemmer, &words, &reason), 0, "%s", reason);
	cr_assert_eq(words_each(words, text, size, is_name, note_word, &out), 0);
	words_free(words);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", text, out.data);
}

static void expect_text(const char *text, const char *expected)
{
	expect_words("english", text, strlen(text), false, expected);
}

static void expect_name(const char *text, const char *expected)
{
	expect_words("english", text, strlen(text), true, expected);
}

Test(words, are_split_and_stemmed)
{
	expect_text("", "");
	expect_text("Sets the alarms, and times!", "set the alarm and time");
	expect_text("What's on? Don't they're", "what on don they");
	expect_text("rock'n'roll l'heure", "rock roll l heur");
	expect_text("sha256 3.5", "sha256 3 5");
}

Test(words, of_a_name_are_split_at_capitals)
{
	expect_name("readXMLDrive", "read xml drive");
	expect_name("get_volume-level", "get volum level");
	expect_name("HTTPServer2Go", "http server2 go");
	expect_text("readXMLDrive", "readxmldriv");
}

Test(words, are_folded)
{
	expect_text("Größe CAFÉ naïve", "gross cafe naiv");
	expect_text("\uFB01le \u2460 \u2122 \uFF21\uFF22", "file 1 tm ab");
	expect_text("it\u2019s \u201Cgood\u201D", "it good");
	expect_text(
		"\u5929\u6C17\u3092\u6559\u3048\u3066", "\u5929 \u6C17 \u3092 \u6559 \u3048\u3066");
	expect_text("\u0419\u043E\u0433", "\u0438\u043E\u0433");
}

Test(words, are_bounded)
{
	char text[WORDS_TEXT_BYTES + 100];
	char expected[WORDS_WORD_BYTES + 1] = {0};

	memset(text, 'q', sizeof(text));
	memset(expected, 'q', WORDS_WORD_BYTES);
	expect_words("english", text, sizeof(text), false, expected);
	memset(text, ' ', sizeof(text));
	memcpy(text + WORDS_TEXT_BYTES, "late", strlen("late"));
	memcpy(text + WORDS_TEXT_BYTES - 6, "early ", strlen("early "));
	expect_words("english", text, sizeof(text), false, "earli");
}

Test(words, know_the_languages_of_libstemmer)
{
	cr_expect_str_eq(search_language_stemmer("en"), "english");
	cr_expect_str_eq(search_language_stemmer("de-AT"), "german");
	cr_expect_str_eq(search_language_stemmer("PT-br"), "portuguese");
	cr_expect_str_eq(search_language_stemmer("Porter"), "porter");
	cr_expect_null(search_language_stemmer("tlh"));
	cr_expect_null(search_language_stemmer(""));
	cr_expect_null(search_language_stemmer("-"));
	expect_words("german", "Häuser", strlen("Häuser"), false, "haus");
}

/* Each language that the message lists has a stemmer. */
Test(words, have_a_stemmer_for_each_listed_language)
{
	char list[] = SEARCH_LANGUAGES;
	unsigned int n = 0;

	for (char *name = strtok(strstr(list, "one of ") + strlen("one of "), ", "); name;
		name = strtok(NULL, ", "), n++) {
		cr_expect_str_eq(search_language_stemmer(name), name);
		expect_words(name, "", 0, false, "");
	}
	cr_expect_eq(n, 29);
}

/* A tag is known by its first part alone; a name, as a whole. */
Test(words, have_a_stemmer_by_a_tag_or_a_name)
{
	static const struct {
		const char *language;
		const char *stemmer; /* NULL: none */
	} cases[] = {
		{"no", "norwegian"},
		{"nb-NO", "norwegian"},
		{"NN", "norwegian"},
		{"en-Latn-GB-x-home", "english"},
		{"GERMAN", "german"},
		{"en-", "english"},
		{"e", NULL},
		{"eng", NULL},
		{"en_US", NULL},
		{"english-US", NULL},
		{"germa", NULL},
		{"-porter", NULL},
		{" en", NULL},
		{"en ", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *stemmer = search_language_stemmer(cases[i].language);

		if (cases[i].stemmer)
			cr_expect(stemmer && strcmp(stemmer, cases[i].stemmer) == 0, "%s",
				cases[i].language);
		else
			cr_expect_null(stemmer, "%s", cases[i].language);
	}
}

Test(words, need_a_stemmer_that_exists)
{
	const char *reason = NULL;
	struct words *words;

	cr_expect_eq(words_new("klingon", &words, &reason), -ELIBACC);
	cr_expect(reason && strstr(reason, "search.language"), "%s", reason);
}

/* ── hostile texts ───────────────────────────────────────────────────────────────────────────── */

/* A text of @n times @part is the words @expected, after the word `begin`. */
static void expect_repeated(const char *part, size_t n, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "begin ");
	for (size_t i = 0; i < n; i++)
		buffer_append_string(&text, part);
	expect_words("english", text.data, text.size, false, expected);
}

Test(words, are_without_the_accents_that_pile_up)
{
	expect_repeated("\u0301", 1000, "begin");
	expect_repeated("z\u0301\u0323\u0315", 4, "begin zzzz");
	expect_text("a\u0308\u0308 \u00E5\u0301", "a a");
}

Test(words, are_separated_by_characters_that_are_no_letters)
{
	expect_text("left\u00A0right\u3000up\u2014down", "left right up down");
	expect_text("red\U0001F600green\u2028blue", "red green blue");
	expect_text("\uFFFD\u202E\u200B", "");
}

/* The bytes that do not fit are left out by whole characters. */
Test(words, are_cut_between_two_characters)
{
	static const char *const parts[] = {"\u0436", "\u0E01", "\U00010400", "a\u0436"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		struct words *words;
		const char *reason;

		for (size_t j = 0; j < WORDS_WORD_BYTES; j++)
			buffer_append_string(&text, parts[i]);
		cr_assert_eq(words_new("porter", &words, &reason), 0);
		cr_assert_eq(words_each(words, text.data, text.size, false, note_word, &out), 0);
		words_free(words);
		cr_expect_leq(out.size, (size_t)WORDS_WORD_BYTES);
		cr_expect_gt(out.size, (size_t)WORDS_WORD_BYTES - 8);
		cr_expect(utf8_is_valid(out.data, out.size), "case %zu", i);
	}
}

/* One character of 3 bytes is a sentence of 18 letters, once folded. */
Test(words, of_a_text_that_grows_when_folded_are_bounded)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct words *words;
	const char *reason;

	while (text.size < WORDS_TEXT_BYTES)
		buffer_append_string(&text, "\uFDFA");
	cr_assert_eq(words_new("arabic", &words, &reason), 0);
	cr_assert_eq(words_each(words, text.data, text.size, false, note_word, &out), 0);
	words_free(words);
	cr_expect_lt(out.size, (size_t)18 * WORDS_TEXT_BYTES);
	cr_expect_gt(out.size, (size_t)WORDS_TEXT_BYTES);
}

static bool count_two(void *data, const char *stem, size_t size)
{
	unsigned int *n = data;

	(void)stem;
	(void)size;
	return ++*n < 2;
}

Test(words, end_when_their_taker_wants_no_more)
{
	static const char *const texts[] = {
		"one two three four", "\u00E9t\u00E9 two three", "\u5929\u6C17\u5929"};
	struct words *words;
	const char *reason;

	cr_assert_eq(words_new("english", &words, &reason), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		unsigned int n = 0;

		cr_assert_eq(
			words_each(words, texts[i], strlen(texts[i]), false, count_two, &n), 0);
		cr_expect_eq(n, 2, "%s: %u", texts[i], n);
	}
	words_free(words);
}
