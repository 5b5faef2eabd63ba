/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/scan.h"
#include "util/cleanup.h"

static size_t scan(const char *text)
{
	return json_scan_value(text, strlen(text), 0);
}

Test(json_scan, steps_over_white_space)
{
	cr_assert_eq(json_scan_space("  \t\r\n x", 7, 0), 6);
	cr_assert_eq(json_scan_space("x", 1, 0), 0);
	cr_assert_eq(json_scan_space("                                        x", 41, 3), 40);
	cr_assert_eq(json_scan_space("    ", 4, 1), 4);
	cr_assert_eq(json_scan_space("x", 1, 1), 1);
	cr_assert_eq(json_scan_space("x", 1, 9), 1);
}

Test(json_scan, finds_the_end_of_a_string)
{
	cr_assert_eq(json_scan_string("\"abc\",", 6, 0), 5);
	cr_assert_eq(json_scan_string("x\"\"", 3, 1), 3);
	cr_assert_eq(json_scan_string("\"a\\\"b\\\\\"x", 9, 0), 8);
	cr_assert_eq(json_scan_string("\"0123456789abcdef\\\"0123456789abcdef\"", 36, 0), 36);
}

Test(json_scan, says_when_a_string_does_not_end)
{
	cr_assert_eq(json_scan_string("\"abc", 4, 0), 0);
	cr_assert_eq(json_scan_string("\"abc\\", 5, 0), 0);
	cr_assert_eq(json_scan_string("\"abc\\\"", 6, 0), 0);
	cr_assert_eq(json_scan_string("abc", 3, 0), 0);
	cr_assert_eq(json_scan_string("\"", 1, 1), 0);
}

Test(json_scan, finds_the_end_of_any_value)
{
	cr_assert_eq(scan("12,3"), 2);
	cr_assert_eq(scan("-1.5e3}"), 6);
	cr_assert_eq(scan("true ,"), 4);
	cr_assert_eq(scan("null"), 4);
	cr_assert_eq(scan("\"a,b\":1"), 5);
	cr_assert_eq(scan("{}]"), 2);
	cr_assert_eq(scan("[[],{\"a\":[\"]\"]}] "), 16);
	cr_assert_eq(scan("{\"a\\\"}\":{\"b\":[1,2,\"0123456789abcdef0123456789\"]}},x"), 49);
}

Test(json_scan, says_when_a_value_does_not_end_or_start)
{
	cr_assert_eq(scan(""), 0);
	cr_assert_eq(scan(",1"), 0);
	cr_assert_eq(scan("]"), 0);
	cr_assert_eq(scan("}"), 0);
	cr_assert_eq(scan(" 1"), 0);
	cr_assert_eq(scan("[[]"), 0);
	cr_assert_eq(scan("[\"]"), 0);
	cr_assert_eq(scan("{\"a\":\"\\\"}"), 0);
}

Test(json_scan, goes_a_million_levels_deep)
{
	const size_t size = 2000000;
	cleanup_free char *text = malloc(size);

	cr_assert_not_null(text);
	memset(text, '[', size / 2);
	memset(text + size / 2, ']', size / 2);
	cr_assert_eq(json_scan_value(text, size, 0), size);
	cr_assert_eq(json_scan_value(text, size - 1, 0), 0);
	cr_assert_eq(json_scan_value(text, size, 1), size - 1);
}

/* Return the end found by a walk over the bytes one by one. */
static size_t container_end(const char *text, size_t size)
{
	bool is_in_string = false;
	size_t open = 0;

	for (size_t i = 0; i < size; i++) {
		if (is_in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			is_in_string = !is_in_string;
		else if (!is_in_string && (text[i] == '{' || text[i] == '['))
			open++;
		else if (!is_in_string && (text[i] == '}' || text[i] == ']') && --open == 0)
			return i + 1;
	}
	return 0;
}

Test(json_scan, finds_the_end_of_a_container_however_its_bytes_fall_into_blocks)
{
	static const char alphabet[] = "\"\"\"\\{}[]{}[],:a 1xyz\xC3";
	char text[300];

	srand(7);
	for (int round = 0; round < 200000; round++) {
		size_t size = 1 + (size_t)rand() % sizeof(text);
		int dull = rand() % 8;

		for (size_t i = 1; i < size; i++)
			text[i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		for (size_t i = 1; i < size; i++)
			if (rand() % 8 < dull)
				text[i] = 'q';
		text[0] = "[{"[rand() % 2];
		cr_assert_eq(json_scan_value(text, size, 0), container_end(text, size), "%.*s",
			(int)size, text);
	}
}

Test(json_scan, finds_a_text_dense_by_its_commas_and_brackets)
{
	char text[512];

	memset(text, 'x', sizeof(text));
	cr_expect_not(json_scan_is_dense(text, sizeof(text), 0));
	for (size_t i = 0; i < 300; i++)
		text[i] = ",[{"[i % 3];
	cr_expect(json_scan_is_dense(text, sizeof(text), 299));
	cr_expect_not(json_scan_is_dense(text, sizeof(text), 300));
	memset(text, ']', sizeof(text));
	cr_expect_not(json_scan_is_dense(text, sizeof(text), 0));
}
