/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/voice/spoken.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"

static const char faces[] =
	"{\"en\":{\"confirm\":\"Run {cmd}?\",\"done\":\"That makes {result} of {a}.\","
	"\"failed\":\"No: {error}\",\"wait\":\"One moment.\"},"
	"\"de-AT\":{\"done\":\"{result}, gell.\"},\"de\":{\"done\":\"Das macht {result}.\"},"
	"\"fr\":{\"done\":\"{{a} {b} { c }\"}}";

static struct json_tape arguments, result;
static struct buffer sentence, tag;

static void set_up(void)
{
	arguments = result = (struct json_tape){0};
	sentence = tag = (struct buffer){0};
}

static void tear_down(void)
{
	json_tape_deinit(&arguments);
	json_tape_deinit(&result);
	buffer_deinit(&sentence);
	buffer_deinit(&tag);
}

TestSuite(spoken, .init = set_up, .fini = tear_down);

static void fill(struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
}

/* Fail unless @face in @language is @expected, in the language @found; NULL: there is none. */
static void expect_face(
	enum spoken_face face, const char *language, const char *expected, const char *found)
{
	struct spoken_values values = {.arguments = &arguments, .result = &result};
	bool is_there;

	if (face == SPOKEN_FAILED)
		values.error = TEXT_VIEW("it is dark");
	buffer_reset(&sentence);
	buffer_reset(&tag);
	is_there = spoken_write(faces, face, TEXT_VIEW(language), &values, &sentence, &tag);
	cr_expect_eq(is_there, expected != NULL, "%s", language);
	cr_expect_str_eq(buffer_terminate(&sentence), expected ? expected : "");
	cr_expect_str_eq(buffer_terminate(&tag), expected ? found : "");
}

static void read_values(void)
{
	fill(&arguments, "{\"a\":\"tea\",\"cmd\":\"ls\",\"none\":null}");
	fill(&result, "{\"result\":1.10}");
}

Test(spoken, has_the_best_language_then_english)
{
	read_values();
	expect_face(SPOKEN_DONE, "de-at-x-home", "1.10, gell.", "de-AT");
	expect_face(SPOKEN_DONE, "de-CH", "Das macht 1.10.", "de");
	expect_face(SPOKEN_DONE, "pt-BR", "That makes 1.10 of tea.", "en");
	expect_face(SPOKEN_DONE, "", "That makes 1.10 of tea.", "en");
}

Test(spoken, has_no_face_of_another_language_beside_its_own)
{
	read_values();
	expect_face(SPOKEN_WAIT, "en", "One moment.", "en");
	expect_face(SPOKEN_WAIT, "de", NULL, NULL);
}

Test(spoken, has_the_error_of_a_failed_call)
{
	read_values();
	expect_face(SPOKEN_FAILED, "en", "No: it is dark", "en");
	expect_face(SPOKEN_CONFIRM, "en", "Run ls?", "en");
}

Test(spoken, is_not_there_without_one_of_its_values)
{
	fill(&arguments, "{\"a\":null}");
	fill(&result, "{\"result\":7}");
	expect_face(SPOKEN_DONE, "en", NULL, NULL);
	expect_face(SPOKEN_DONE, "de", "Das macht 7.", "de");
}

Test(spoken, has_no_more_digits_of_a_result_than_a_person_says)
{
	static const char *const cases[][2] = {
		{"5.0", "5"},
		{"-0.0", "-0"},
		{"1.00", "1.00"},
		{"3.141593", "3.141593"},
		{"6.2137119223733395", "6.21371"},
		{"0.30000000000000004", "0.3"},
		{"1234567.8912345", "1234567.89"},
		{"1.2345678e10", "12345678000.00"},
		{"1.2345678e300", "1.23457e+300"},
		{"1.000000", "1.000000"},
		{"1.0000000", "1"},
		{"999.9999999", "1000"},
		{"1000.0000001", "1000.00"},
		{"-1000.1234567", "-1000.12"},
		{"1.12345678e15", "1.12346e+15"},
		{"9.12345678e14", "912345678000000.00"},
		{"1e5", "1e5"},
		{"20000000000000000000000", "20000000000000000000000"},
	};

	fill(&arguments, "{\"a\":5.0}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];
		char sum[64];

		snprintf(text, sizeof(text), "{\"result\":%s}", cases[i][0]);
		snprintf(sum, sizeof(sum), "Das macht %s.", cases[i][1]);
		fill(&result, text);
		expect_face(SPOKEN_DONE, "de", sum, "de");
	}
	fill(&result, "{\"result\":5.0}");
	expect_face(SPOKEN_DONE, "en", "That makes 5 of 5.0.", "en");
}

Test(spoken, has_braces_that_mean_themselves)
{
	fill(&arguments, "{\"b\":[1, {\"x\": \"y\"}]}");
	fill(&result, "{}");
	expect_face(SPOKEN_DONE, "fr", "{a} [1,{\"x\":\"y\"}] { c }", "fr");
}

Test(spoken, is_not_there_for_a_tool_without_faces)
{
	struct spoken_values values = {0};

	cr_expect_not(spoken_write(NULL, SPOKEN_DONE, TEXT_VIEW("en"), &values, &sentence, &tag));
	cr_expect_eq(sentence.size, 0);
}

Test(spoken, cuts_a_value_that_is_long)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	fill(&arguments, "{\"a\":0}");
	buffer_append_string(&text, "{\"result\":\"");
	for (size_t i = 0; i < SPOKEN_VALUE_POINTS; i++)
		buffer_append_string(&text, "\xC3\xA4");
	buffer_append_string(&text, "x\"}");
	fill(&result, buffer_terminate(&text));
	expect_face(SPOKEN_CONFIRM, "en", NULL, NULL);
	spoken_write(faces, SPOKEN_DONE, TEXT_VIEW("de"),
		&(struct spoken_values){.result = &result}, &sentence, &tag);
	cr_expect_eq(sentence.size, strlen("Das macht .") + 2 * SPOKEN_VALUE_POINTS + 3);
}

Test(spoken, tells_whether_it_names_all_arguments)
{
	struct spoken_values values = {.arguments = &arguments};

	fill(&arguments, "{\"cmd\":\"ls\"}");
	spoken_write(faces, SPOKEN_CONFIRM, TEXT_VIEW("en"), &values, &sentence, &tag);
	cr_expect(spoken_names_all(&values));
	fill(&arguments, "{\"cmd\":\"ls\",\"dir\":\"/\"}");
	values.named = 0;
	spoken_write(faces, SPOKEN_CONFIRM, TEXT_VIEW("en"), &values, &sentence, &tag);
	cr_expect_not(spoken_names_all(&values));
}

Test(spoken, names_each_of_63_arguments_or_is_not_sure)
{
	for (unsigned int n = 63; n <= 64; n++) {
		struct spoken_values values = {.arguments = &arguments};
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer all = {0};

		buffer_append_string(&all, "{\"en\":{\"confirm\":\"");
		for (unsigned int i = 0; i < n; i++) {
			buffer_printf(&text, "%s\"a%u\":1", i == 0 ? "{" : ",", i);
			buffer_printf(&all, "{a%u}", i);
		}
		buffer_append_char(&text, '}');
		buffer_append_string(&all, "\"}}");
		fill(&arguments, buffer_terminate(&text));
		cr_assert(spoken_write(buffer_terminate(&all), SPOKEN_CONFIRM, TEXT_VIEW("en"),
			&values, &sentence, &tag));
		cr_expect_eq(spoken_names_all(&values), n == 63, "%u", n);
	}
}
