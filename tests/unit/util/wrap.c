/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/wrap.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

#include "util/cleanup.h"

static void set_up(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
}

TestSuite(wrap, .init = set_up, .timeout = 20);

Test(wrap, fits_as_many_characters_as_there_are_columns)
{
	size_t width;

	cr_expect_eq(wrap_prefix("äbc", 4, 2, &width), 3);
	cr_expect_eq(width, 2);
	cr_expect_eq(wrap_prefix("日本", 6, 3, &width), 3);
	cr_expect_eq(width, 2);
	cr_expect_eq(wrap_prefix("", 0, 5, &width), 0);
	cr_expect_eq(width, 0);
	cr_expect_eq(wrap_prefix("a\xff", 2, 5, &width), 1, "up to what is no character");
	cr_expect_eq(width, 1);
	cr_expect_eq(wrap_prefix("ab\0c", 4, 5, &width), 2);
	cr_expect_eq(width, 2);
}

static void expect(
	const char *text, size_t first, size_t columns, size_t indent, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	wrap_append(&out, text, strlen(text), first, columns, indent);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

Test(wrap, breaks_between_words)
{
	expect("a text of words", 6, 5, 2, "a text\n  of\n  words");
	expect("fits", 4, 2, 2, "fits");
	expect("any length of it", 0, 0, 2, "any length of it");
	expect("日本 語", 4, 4, 1, "日本\n 語");
	expect("", 4, 4, 2, "");
}

Test(wrap, breaks_a_word_that_is_longer_than_a_line)
{
	expect("abcdef", 4, 4, 0, "abcd\nef");
	expect("ab/cd/efg", 8, 8, 2, "ab/cd/\n  efg");
}

Test(wrap, measures_nothing_but_terminals)
{
	cr_expect_eq(wrap_columns(-1), 0);
}

Test(wrap, stops_before_a_character_that_is_cut)
{
	size_t width;

	cr_expect_eq(wrap_prefix("aé", 2, 9, &width), 1);
	cr_expect_eq(width, 1);
	cr_expect_eq(wrap_prefix("aé", 3, 9, &width), 3);
	cr_expect_eq(width, 2);
	cr_expect_eq(wrap_prefix("aé", 3, 1, &width), 1);
}
