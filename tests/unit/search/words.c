/* SPDX-License-Identifier: Apache-2.0 */
#include "search/words.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "search/language.h"
#include "util/buffer.h"
#include "util/cleanup.h"

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
