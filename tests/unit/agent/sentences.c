/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/sentences.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

#include "util/cleanup.h"

/* Sentences of a text, joined by '|' for a comparison. */

static struct buffer joined;

static void join(void *data, const char *text, size_t size)
{
	(void)data;
	if (joined.size > 0)
		buffer_append_char(&joined, '|');
	buffer_append(&joined, text, size);
}

static void set_up(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
}

TestSuite(sentences, .timeout = 60, .init = set_up);

static void expect_from(const char *text, size_t step, const char *expected)
{
	cleanup(buffer_deinit) struct buffer held = {0};
	size_t size = strlen(text);

	buffer_deinit(&joined);
	for (size_t at = 0; at < size; at += step)
		sentences_take(
			&held, text + at, size - at < step ? size - at : step, false, join, NULL);
	sentences_take(&held, "", 0, true, join, NULL);
	cr_assert(buffer_terminate(&joined));
	cr_expect_str_eq(joined.data, expected, "%s", joined.data);
	buffer_deinit(&joined);
}

static void expect_sentences(const char *text, const char *expected)
{
	expect_from(text, 1, expected);
	expect_from(text, 7, expected);
	expect_from(text, strlen(text) + 1, expected);
}

Test(sentences, end_at_terminators)
{
	expect_sentences("It is noon. Are you hungry? Eat!", "It is noon.|Are you hungry?|Eat!");
	expect_sentences("Yes", "Yes");
	expect_sentences("Well… no.", "Well… no.");
	expect_sentences("今日は晴れ。明日は雨。", "今日は晴れ。|明日は雨。");
}

Test(sentences, end_at_lines)
{
	expect_sentences("One\nTwo\n\nThree", "One|Two|Three");
}

Test(sentences, keep_their_quotes)
{
	expect_sentences("He said \"No.\" Then he left.", "He said \"No.\"|Then he left.");
}

Test(sentences, go_on_after_numbers_and_names)
{
	expect_sentences("It is 3.14 exactly. Good.", "It is 3.14 exactly.|Good.");
	expect_sentences("See example.com for it. Bye.", "See example.com for it.|Bye.");
	expect_sentences("The U.S. is big. Yes.", "The U.S. is big.|Yes.");
}

Test(sentences, go_on_after_abbreviations)
{
	expect_sentences("Ask Dr. Smith. He knows.", "Ask Dr. Smith.|He knows.");
	expect_sentences("Obst, z. B. Äpfel. Gut.", "Obst, z. B. Äpfel.|Gut.");
	expect_sentences("Am 3. Mai um acht. Ja.", "Am 3. Mai um acht.|Ja.");
}

Test(sentences, go_on_before_small_letters)
{
	expect_sentences("He (etc.) and she. So.", "He (etc.) and she.|So.");
	expect_sentences("wait... what? No.", "wait... what?|No.");
}

Test(sentences, without_words_are_none)
{
	expect_sentences("… !! ?", "");
}

Test(sentences, are_cut_when_they_do_not_end)
{
	cleanup(buffer_deinit) struct buffer held = {0};

	buffer_deinit(&joined);
	for (size_t i = 0; i < SENTENCE_BYTES / 2 + 2; i++)
		sentences_take(&held, "a ", 2, false, join, NULL);
	cr_expect_gt(joined.size, SENTENCE_BYTES / 2);
	cr_expect_lt(held.size, 100);
	buffer_deinit(&joined);
}
