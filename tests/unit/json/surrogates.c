/* SPDX-License-Identifier: Apache-2.0 */
#include "json/surrogates.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

/* Mend a copy of exactly the size of @text, so that a sanitizer sees a read outside. */
static void expect_mended(const char *text, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t size = strlen(text);
	cleanup_free char *copy = malloc(size ? size : 1);
	bool is_mended;

	memcpy(copy, text, size);
	is_mended = json_mend_surrogates(copy, size, &out);
	cr_expect_eq(is_mended, strcmp(text, expected) != 0, "%s", text);
	if (is_mended)
		cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", text, out.data);
	else
		cr_expect_eq(out.size, 0, "%s", text);
}

Test(json_surrogates, leaves_whole_pairs_and_all_else)
{
	static const char *const texts[] = {"", "plain", "\\u0041", "\\ud83d\\ude00",
		"\\uD83D\\uDE00", "\\ud800\\udc00", "\\udbff\\udfff", "\\ud7ff", "\\ue000",
		"\\\\ud800", "\\\\\\\\ud83d", "\\n\\\"\\ud83d\\ude00\\t", "\\", "\\u", "\\ud8",
		"\\ud83", "\\uzzzz"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		expect_mended(texts[i], texts[i]);
}

Test(json_surrogates, replaces_half_a_pair_by_one_character)
{
	static const char *const cases[][2] = {
		{"\\ud83d", "\\ufffd"},
		{"\\ude00", "\\ufffd"},
		{"a\\ud83db", "a\\ufffdb"},
		{"\\ud83d\\u0041", "\\ufffd\\u0041"},
		{"\\ud83d\\ud83d\\ude00", "\\ufffd\\ud83d\\ude00"},
		{"\\ude00\\ud83d", "\\ufffd\\ufffd"},
		{"\\ud83d\\ude0", "\\ufffd\\ude0"},
		{"\\ud83d\\n", "\\ufffd\\n"},
		{"\\ud83d\\ude00\\ud83d", "\\ud83d\\ude00\\ufffd"},
		{"\\\\\\ud83d", "\\\\\\ufffd"},
		{"\\ud83d \\ude00", "\\ufffd \\ufffd"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_mended(cases[i][0], cases[i][1]);
}

/* Every pair of a first and a second unit near the bounds of the two ranges. */
Test(json_surrogates, are_a_pair_only_of_a_high_and_a_low_one)
{
	static const unsigned int units[] = {
		0xD7FF, 0xD800, 0xD801, 0xDA00, 0xDBFF, 0xDC00, 0xDC01, 0xDE00, 0xDFFF, 0xE000};
	enum { COUNT = sizeof(units) / sizeof(*units) };
	char text[16];
	char expected[16];

	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < COUNT; j++) {
			bool is_high = units[i] >= 0xD800 && units[i] <= 0xDBFF;
			bool is_low = units[j] >= 0xDC00 && units[j] <= 0xDFFF;
			bool is_pair = is_high && is_low;
			bool is_first_half = units[i] >= 0xD800 && units[i] <= 0xDFFF && !is_pair;
			bool is_second_half = units[j] >= 0xD800 && units[j] <= 0xDFFF && !is_pair;

			snprintf(text, sizeof(text), "\\u%04x\\u%04x", units[i], units[j]);
			snprintf(expected, sizeof(expected), "\\u%04x\\u%04x",
				is_first_half ? 0xFFFD : units[i],
				is_second_half ? 0xFFFD : units[j]);
			expect_mended(text, expected);
		}
}
