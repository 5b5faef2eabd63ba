/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/text/text.h"

static unsigned int distance(const char *a, const char *b, unsigned int most)
{
	return text_distance(a, strlen(a), b, strlen(b), most);
}

static bool is_near(const char *name, const char *candidate, unsigned int *ret_distance)
{
	return text_is_near(name, strlen(name), candidate, strlen(candidate), ret_distance);
}

Test(text, counts_inserted_removed_replaced_and_swapped_bytes)
{
	cr_assert_eq(distance("add", "add", 9), 0);
	cr_assert_eq(distance("add", "ad", 9), 1);
	cr_assert_eq(distance("add", "addd", 9), 1);
	cr_assert_eq(distance("add", "odd", 9), 1);
	cr_assert_eq(distance("add", "dad", 9), 1);
	cr_assert_eq(distance("", "abc", 9), 3);
	cr_assert_eq(distance("abc", "", 9), 3);
	cr_assert_eq(distance("", "", 9), 0);
	cr_assert_eq(distance("kitten", "sitting", 9), 3);
	cr_assert_eq(distance("ca", "abc", 9), 3);
}

Test(text, ignores_case)
{
	cr_assert_eq(distance("GetWeather", "getweather", 9), 0);
	cr_assert_eq(distance("AB", "ba", 9), 1);
}

Test(text, says_no_more_than_one_past_the_most_asked_for)
{
	cr_assert_eq(distance("kitten", "sitting", 3), 3);
	cr_assert_eq(distance("kitten", "sitting", 2), 3);
	cr_assert_eq(distance("kitten", "sitting", 0), 1);
}

Test(text, takes_names_over_the_bound_as_far_apart)
{
	char name[TEXT_NAME_BYTES + 1];
	unsigned int unused;

	memset(name, 'x', sizeof(name));
	cr_assert_eq(text_distance(name, TEXT_NAME_BYTES, name, TEXT_NAME_BYTES, 5), 0);
	cr_assert_eq(text_distance(name, TEXT_NAME_BYTES + 1, name, TEXT_NAME_BYTES + 1, 5), 6);
	cr_assert_eq(text_distance(name, 1, name, TEXT_NAME_BYTES + 1, 5), 6);
	cr_assert_not(text_is_near(name, sizeof(name), name, sizeof(name), &unused));
}

Test(text, offers_a_name_of_which_at_most_a_third_differs)
{
	unsigned int d = 99;

	cr_assert(is_near("multipyl", "multiply", &d));
	cr_assert_eq(d, 1);
	cr_assert(is_near("abcdef", "abcdxy", &d));
	cr_assert_eq(d, 2);
	d = 99;
	cr_assert_not(is_near("abcdef", "abcxyz", &d));
	cr_assert_eq(d, 99, "written only when near");
	cr_assert_not(is_near("ab", "xy", &d));
}

Test(text, offers_a_name_that_contains_the_other)
{
	unsigned int d = 99;

	cr_assert(is_near("weather", "get_weather_forecast", &d));
	cr_assert_eq(d, 2);
	cr_assert(is_near("get_weather_forecast", "Weather", &d));
	cr_assert_not(is_near("et", "get_weather_forecast", &d), "two bytes are in everything");
	cr_assert_not(is_near("window", "get_weather_forecast", &d));
	cr_assert_not(is_near("zzz", "get_weather_forecast", &d));
}

/* For all texts of up to three letters: the full distance, and a limit one below it. */
Test(text, tells_the_same_distance_however_much_is_asked_for)
{
	static const char letters[] = "abc";
	char texts[39][4];
	size_t n_texts = 0;

	for (size_t i = 0; i < 3; i++) {
		snprintf(texts[n_texts++], 4, "%c", letters[i]);
		for (size_t j = 0; j < 3; j++) {
			snprintf(texts[n_texts++], 4, "%c%c", letters[i], letters[j]);
			for (size_t k = 0; k < 3; k++)
				snprintf(texts[n_texts++], 4, "%c%c%c", letters[i], letters[j],
					letters[k]);
		}
	}
	for (size_t i = 0; i < n_texts; i++)
		for (size_t j = 0; j < n_texts; j++) {
			unsigned int whole = distance(texts[i], texts[j], 9);

			cr_assert_eq(distance(texts[j], texts[i], 9), whole);
			cr_assert_eq(distance(texts[i], texts[j], whole), whole);
			cr_assert_eq(whole == 0, i == j);
			if (whole > 0)
				cr_assert_eq(distance(texts[i], texts[j], whole - 1), whole);
		}
}

Test(text, may_be_asked_for_what_is_nearer_only)
{
	unsigned int d = 99;
	size_t work = 0;

	cr_assert(text_is_nearer("multipyl", 8, "multiply", 8, 2, &d, &work));
	cr_assert_eq(d, 1);
	cr_assert_not(text_is_nearer("multipyl", 8, "multiply", 8, 1, &d, &work));
	cr_assert_not(text_is_nearer("multiply", 8, "multiply", 8, 0, &d, &work));
	cr_assert(text_is_nearer("get", 3, "get_the_weather", 15, 3, &d, &work), "as a part of it");
	cr_assert_not(text_is_nearer("get", 3, "get_the_weather", 15, 2, &d, &work));
}

Test(text, knows_a_frame_of_a_stack_trace)
{
	cr_expect(text_is_stack_frame("    at f (x.js:3:1)", 19));
	cr_expect(text_is_stack_frame("\tat a.B.c(B.java:1)", 19));
	cr_expect_not(text_is_stack_frame("at f", 4));
	cr_expect_not(text_is_stack_frame("  attempt failed", 16));
	cr_expect_not(text_is_stack_frame("   at", 5));
	cr_expect_not(text_is_stack_frame("", 0));
}

static void expect_masked(const char *url, const char *expected)
{
	cleanup_free char *masked = text_mask_url_dup(url);

	cr_expect_str_eq(masked, expected);
	cr_expect_lt(strlen(masked), TEXT_MASKED_BYTES(strlen(url)));
}

Test(text, masks_the_secrets_of_a_url)
{
	expect_masked("ws://host:1/core?token=secret&a=;b", "ws://host:1/core?token=***&a=***;b");
	expect_masked("http://me:p/w@d@host/x", "http://***@host/x");
	expect_masked("me:pw@host?a=b", "***@host?a=***");
	expect_masked("/core@home?=&=&=", "/core@home?=***&=***&=***");
	expect_masked("host", "host");
	expect_masked("", "");
}

Test(text, is_trimmed_of_white_space_at_both_ends)
{
	static const char *const cases[][2] = {
		{"", ""},
		{" ", ""},
		{" \t\r\n", ""},
		{"a", "a"},
		{"  a b\t", "a b"},
		{"\r\na\n", "a"},
		{"\v\fa", "\v\fa"},
		{"a\xC2\xA0", "a\xC2\xA0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[16];

		strcpy(text, cases[i][0]);
		cr_expect_str_eq(text_trim(text), cases[i][1], "row %zu", i);
	}
}

Test(text, has_hexadecimal_digits_of_both_cases)
{
	for (int c = 0; c < 256; c++) {
		const char *digits = "0123456789abcdefABCDEF";
		const char *at = c ? strchr(digits, c) : NULL;
		int expected = !at                ? -1
			       : at - digits < 16 ? (int)(at - digits)
						  : (int)(at - digits) - 6;

		cr_expect_eq(text_hex_value((char)c), expected, "%d", c);
		cr_expect_eq(text_is_digit((char)c), expected >= 0 && expected < 10, "%d", c);
	}
}

Test(text, reads_back_the_hexadecimal_digits_that_it_writes)
{
	unsigned char bytes[256];
	unsigned char again[256];
	char digits[2 * sizeof(bytes) + 1];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	text_write_hex(bytes, sizeof(bytes), digits);
	cr_expect_eq(strlen(digits), 2 * sizeof(bytes));
	cr_expect_eq(strncmp(digits, "000102", 6), 0);
	cr_expect_str_eq(digits + sizeof(digits) - 5, "feff");
	cr_assert(text_read_hex(digits, strlen(digits), again, sizeof(again)));
	cr_expect_arr_eq(again, bytes, sizeof(bytes));
}

Test(text, reads_no_bytes_from_digits_that_are_too_few_too_many_or_none)
{
	static const char *const wrong[] = {
		"", "0", "000", "00000", "0g", "g0", "0 ", " 0", "0x", "-1", "\xC2\xB2"};
	unsigned char byte = 0xAB;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not(text_read_hex(wrong[i], strlen(wrong[i]), &byte, 1), "%s", wrong[i]);
	cr_expect_eq(byte, 0xAB);
	cr_expect(text_read_hex("Ff", 2, &byte, 1));
	cr_expect_eq(byte, 0xFF);
	cr_expect(text_read_hex("", 0, &byte, 0), "no bytes have no digits");
}

Test(text, finds_each_value_of_a_query)
{
	const char *at = "a=1&b=&c;d=x=y;=z";
	static const char *const values[] = {"1", "", "x=y", "z"};
	size_t n = 0;
	size_t size = 0;

	for (; (at = text_next_value(at, &size)); n++) {
		cr_assert_lt(n, sizeof(values) / sizeof(*values));
		cr_expect_eq(size, strlen(values[n]), "value %zu", n);
		cr_expect_eq(strncmp(at, values[n], size), 0, "value %zu: %s", n, at);
		at += size;
	}
	cr_expect_eq(n, 4);
	cr_expect_null(text_next_value("", &size));
	cr_expect_null(text_next_value("flag&other", &size));
}

Test(text, knows_the_characters_of_a_name)
{
	for (int c = 0; c < 256; c++) {
		char text[] = {'a', (char)c, '.', '\0'};

		cr_expect_eq(text_span_name(text), strspn(text, TEXT_ALPHANUMERIC "_-"), "%d", c);
	}
	cr_expect_eq(text_span_name(""), 0);
}

Test(text, takes_a_name_over_the_bound_as_far_from_a_shorter_one)
{
	char name[TEXT_NAME_BYTES + 1];

	memset(name, 'x', sizeof(name));
	cr_expect_eq(text_distance(name, sizeof(name), name, TEXT_NAME_BYTES, 9), 10);
	cr_expect_eq(text_distance(name, TEXT_NAME_BYTES, name, sizeof(name), 9), 10);
	cr_expect_eq(text_distance(name, TEXT_NAME_BYTES, name, TEXT_NAME_BYTES - 1, 9), 1);
}

Test(text, is_nearer_than_a_name_before)
{
	static const struct {
		const char *name;
		const char *candidate;
		unsigned int than;
		unsigned int distance; /* 0: not nearer */
	} rows[] = {
		{"weather", "get_weather_forecast", 3, 2},
		{"weather", "get_weather_forecast", 2, 0},
		{"multipyl", "multiply", 2, 1},
		{"multipyl", "multiply", 1, 0},
		{"multiply", "multiply", 0, 0},
		{"abcdef", "abcdxy", 3, 2},
		{"abcdef", "abcdxy", 2, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned int distance = 0;
		size_t work = 0;

		cr_expect_eq(text_is_nearer(rows[i].name, strlen(rows[i].name), rows[i].candidate,
				     strlen(rows[i].candidate), rows[i].than, &distance, &work),
			rows[i].distance > 0, "%zu", i);
		cr_expect_eq(distance, rows[i].distance, "%zu", i);
		cr_expect_gt(work, 0);
	}
}
