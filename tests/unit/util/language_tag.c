/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/language_tag.h"

#include <criterion/criterion.h>

/* Fail unless @tag without its last subtag is @expected; NULL: nothing is left. */
static void expect_shorter(const char *tag, const char *expected)
{
	struct text_view shorter = language_tag_shorten(TEXT_VIEW(tag));

	if (!expected) {
		cr_expect_null(shorter.text, "%s", tag);
		return;
	}
	cr_assert_not_null(shorter.text, "%s", tag);
	cr_expect(language_tag_equals(shorter, expected, strlen(expected)), "%s: %.*s", tag,
		(int)shorter.size, shorter.text);
}

Test(language_tag, loses_its_last_subtag)
{
	expect_shorter("zh-Hant-CN", "zh-Hant");
	expect_shorter("de-AT", "de");
	expect_shorter("de", NULL);
	expect_shorter("", NULL);
}

Test(language_tag, loses_a_single_character_with_what_follows)
{
	expect_shorter("zh-Hant-CN-x-private1", "zh-Hant-CN");
	expect_shorter("x-private", "x");
	expect_shorter("-", NULL);
}

Test(language_tag, is_the_same_in_upper_and_lower_case)
{
	cr_expect(language_tag_equals(TEXT_VIEW("en-US"), "EN-us", 5));
	cr_expect_not(language_tag_equals(TEXT_VIEW("en-US"), "en", 2));
	cr_expect_not(language_tag_equals(TEXT_VIEW("en"), "de", 2));
}
