/* SPDX-License-Identifier: Apache-2.0 */
#include "core/voice/number_words.h"
#include "util/cleanup.h"

#include <criterion/criterion.h>
#include <string.h>

/* Fail unless @text is the number @expected in the language @tag; "" for no number. */
static void expect_number(const char *tag, const char *text, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	bool is_number =
		number_words_read(number_words_find(TEXT_VIEW(tag)), text, strlen(text), &out);

	cr_expect_eq(is_number, *expected != '\0', "%s: %s", tag, text);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", tag, text);
}

Test(number_words, reads_english)
{
	expect_number("en", "zero", "0");
	expect_number("en", "three", "3");
	expect_number("en", "Twelve", "12");
	expect_number("en", "sixteen", "16");
	expect_number("en", "twenty-one", "21");
	expect_number("en", "twenty one", "21");
	expect_number("en", "ninety nine", "99");
	expect_number("en", "a hundred and five", "105");
	expect_number("en", "two hundred thirty four", "234");
	expect_number("en", "twelve hundred", "1200");
	expect_number("en", "a thousand", "1000");
	expect_number("en", "nine hundred and ninety nine thousand nine hundred and ninety nine",
		"999999");
	expect_number("en", "minus seven", "-7");
	expect_number("en", "negative two thousand and one", "-2001");
}

Test(number_words, reads_german_compounds)
{
	expect_number("de", "null", "0");
	expect_number("de", "Drei", "3");
	expect_number("de", "zwölf", "12");
	expect_number("de", "siebzehn", "17");
	expect_number("de", "einundzwanzig", "21");
	expect_number("de", "fünf und vierzig", "45");
	expect_number("de", "hundertfünf", "105");
	expect_number("de", "zweihundertfünfunddreißigtausend", "235000");
	expect_number("de", "eintausend zweihundert", "1200");
	expect_number("de", "neunhundertneunundneunzigtausendneunhundertneunundneunzig", "999999");
	expect_number("de", "minus sieben", "-7");
}

Test(number_words, reads_figures_with_the_separators_of_the_language)
{
	expect_number("en", "1,000", "1000");
	expect_number("en", "-12,345.5", "-12345.5");
	expect_number("de", "1.000", "1000");
	expect_number("de", "3,5", "3.5");
	expect_number("de", "1.234,5", "1234.5");
}

Test(number_words, leaves_other_figures_to_json)
{
	expect_number("en", "3", "");
	expect_number("en", "3.5", "");
	expect_number("en", "1,00", "");
	expect_number("en", "1,000,", "");
	expect_number("de", "1.5", "");
	expect_number("de", "12", "");
}

Test(number_words, refuses_what_is_no_number_as_a_whole)
{
	static const char *const none[] = {"", " ", "-", "and", "three four", "twenty eleven",
		"twenty thirty", "three and", "and three", "zero five", "hundred hundred",
		"zero thousand", "thousand thousand", "a", "a three", "minus", "minus minus two",
		"three minus", "three apples", "threely", "five and and six", "ten three",
		"twelve hundred thousand"};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		expect_number("en", none[i], "");
	expect_number("de", "drei zwanzig", "");
	expect_number("de", "zwanzig und dreißig", "");
	expect_number("de", "three", "");
}

Test(number_words, refuses_a_text_that_is_too_long)
{
	char text[400];

	memset(text, ' ', sizeof(text));
	memcpy(text, "three", 5);
	text[256] = '\0';
	expect_number("en", text, "3");
	text[256] = ' ';
	text[257] = '\0';
	expect_number("en", text, "");
}

Test(number_words, finds_the_language_of_a_tag)
{
	cr_expect_not_null(number_words_find(TEXT_VIEW("en-US")));
	cr_expect_not_null(number_words_find(TEXT_VIEW("DE-at-x-home")));
	cr_expect_eq(number_words_find(TEXT_VIEW("de")), number_words_find(TEXT_VIEW("de-DE")));
	cr_expect_null(number_words_find(TEXT_VIEW("pt")));
	cr_expect_null(number_words_find(TEXT_VIEW("")));
}

Test(number_words, reads_no_figures_that_are_no_number_of_json)
{
	expect_number("en", "0,001", "");
	expect_number("en", "012,345", "");
	expect_number("en", "-0,500", "");
	expect_number("de", "007,5", "");
	expect_number("de", "0.500", "");
	expect_number("de", "00,5", "");
	expect_number("de", "0,5", "0.5");
	expect_number("de", "-0,05", "-0.05");
	expect_number("en", "100,000", "100000");
	expect_number("en", "1,000.", "");
	expect_number("en", "--1,000", "");
	expect_number("en", "1,000 000", "");
	expect_number("de", ",5", "");
}

Test(number_words, has_no_and_between_a_unit_and_its_hundred)
{
	expect_number("en", "one and hundred", "");
	expect_number("de", "drei und hundert", "");
	expect_number("de", "tausend und hundert", "1100");
	expect_number("en", "two hundred and one thousand", "201000");
	expect_number("en", "one and", "");
	expect_number("en", "minus and one", "");
}

Test(number_words, reads_nothing_after_the_end_of_its_text)
{
	static const char text[] = "1,0005one hundredth";
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect(number_words_read(number_words_find(TEXT_VIEW("en")), text, 5, &out));
	cr_expect_str_eq(buffer_terminate(&out), "1000");
	buffer_reset(&out);
	cr_expect(number_words_read(
		number_words_find(TEXT_VIEW("en")), text + 6, strlen("one hundred"), &out));
	cr_expect_str_eq(buffer_terminate(&out), "100");
	buffer_reset(&out);
	cr_expect_not(number_words_read(
		number_words_find(TEXT_VIEW("en")), text + 6, strlen("one hundre"), &out));
	cr_expect_eq(out.size, 0);
}
