/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/glob.h"

#include <criterion/criterion.h>
#include <string.h>

static bool matches(const char *pattern, const char *text)
{
	return glob_matches(pattern, strlen(pattern), text, strlen(text));
}

Test(glob, takes_a_text_exactly_without_a_star)
{
	cr_expect(matches("", ""));
	cr_expect(matches("add", "add"));
	cr_expect_not(matches("add", "Add"));
	cr_expect_not(matches("add", "add "));
	cr_expect_not(matches("add", "ad"));
	cr_expect_not(matches("", "a"));
	cr_expect_not(matches("a", ""));
}

Test(glob, takes_any_run_for_a_star)
{
	cr_expect(matches("*", ""));
	cr_expect(matches("*", "add"));
	cr_expect(matches("get_*", "get_"));
	cr_expect(matches("get_*", "get_time"));
	cr_expect_not(matches("get_*", "get"));
	cr_expect(matches("*_time", "get_time_time"));
	cr_expect(matches("g*t*e", "get_time"));
	cr_expect_not(matches("g*x*e", "get_time"));
	cr_expect(matches("**a**", "bab"));
	cr_expect_not(matches("*a", "ab"));
}

Test(glob, knows_no_other_sign)
{
	cr_expect_not(matches("?", "a"));
	cr_expect_not(matches("[ab]", "a"));
	cr_expect(matches("a\\*", "a\\b"));
	cr_expect(glob_matches("a*c", 3, "a\0c", 3));
	cr_expect_not(glob_matches("ac", 2, "a\0c", 3));
}

/* Every way of placing a star, against a search that tries them all. */
static bool tries_all(const char *pattern, const char *text)
{
	if (*pattern == '*')
		return tries_all(pattern + 1, text) || (*text && tries_all(pattern, text + 1));
	if (!*pattern || !*text)
		return *pattern == *text;
	return *pattern == *text && tries_all(pattern + 1, text + 1);
}

Test(glob, agrees_with_a_search_that_tries_everything)
{
	static const char letters[] = "ab*";

	for (unsigned int one = 0; one < 729; one++)
		for (unsigned int other = 0; other < 64; other++) {
			char pattern[7] = "";
			char text[7] = "";

			for (unsigned int i = 0, rest = one; i < 6; i++, rest /= 3)
				pattern[i] = letters[rest % 3];
			for (unsigned int i = 0, rest = other; i < 6; i++, rest /= 2)
				text[i] = letters[rest % 2];
			cr_assert_eq(matches(pattern, text), tries_all(pattern, text), "%s %s",
				pattern, text);
		}
}
