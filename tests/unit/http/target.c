/* SPDX-License-Identifier: Apache-2.0 */
#include "http/target.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"

static void expect_view(struct text_view view, const char *expected)
{
	cr_expect(expected ? view.text && view.size == strlen(expected) &&
				     memcmp(view.text, expected, view.size) == 0
			   : !view.text,
		"%.*s, not %s", (int)view.size, view.text ? view.text : "", expected);
}

Test(target, is_a_path_and_a_query)
{
	struct target target = target_read("/v1/tools?format=full&a=b?c");

	expect_view(target.path, "/v1/tools");
	expect_view(target.query, "format=full&a=b?c");
	target = target_read("/");
	expect_view(target.path, "/");
	cr_expect_eq(target.query.size, 0);
}

Test(target, matches_a_pattern_with_one_segment)
{
	static const struct {
		const char *text, *pattern, *segment;
		bool matches;
	} cases[] = {
		{"/health", "/health", NULL, true},
		{"/health/", "/health", NULL, true},
		{"/health//", "/health", NULL, false},
		{"/healt", "/health", NULL, false},
		{"/v1/tools/add?x=1", "/v1/tools/{}", "add", true},
		{"/v1/tools/", "/v1/tools/{}", NULL, false},
		{"/v1/tools", "/v1/tools/{}", NULL, false},
		{"/v1/tools/add/?x=1", "/v1/tools/{}", "add", true},
		{"/v1/tools/a/b", "/v1/tools/{}", NULL, false},
		{"/v1/tools/a%2Fb", "/v1/tools/{}", "a%2Fb", true},
		{"/a/x/b", "/a/{}/b", "x", true},
		{"/a//b", "/a/{}/b", NULL, false},
		{"/a/b", "/a/{}/b", NULL, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct target target = target_read(cases[i].text);
		struct text_view segment;

		cr_expect_eq(target_matches(&target, cases[i].pattern, &segment), cases[i].matches,
			"%s", cases[i].text);
		if (cases[i].matches)
			expect_view(segment, cases[i].segment);
	}
}

Test(target, finds_the_values_of_a_query)
{
	struct target target = target_read("/?a=1&bb=&c&a=2&bb=3");
	struct text_view value;

	target_find(&target, "a", &value);
	expect_view(value, "1");
	target_find(&target, "bb", &value);
	expect_view(value, "");
	target_find(&target, "c", &value);
	expect_view(value, "");
	target_find(&target, "b", &value);
	expect_view(value, NULL);
	target_find(&target, "d", &value);
	expect_view(value, NULL);
}

static void expect_decoded(const char *text, bool is_query, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	struct text_view view = TEXT_VIEW(text);

	cr_expect_eq(target_decode(&view, is_query, &out), expected != NULL, "%s", text);
	if (expected)
		cr_expect_str_eq(buffer_terminate(&out), expected);
}

Test(target, decodes_utf8_and_nothing_else)
{
	expect_decoded("add", false, "add");
	expect_decoded("%C3%A4+%2b%2B", true, "\xC3\xA4 ++");
	expect_decoded("a+b", false, "a+b");
	expect_decoded("%", false, NULL);
	expect_decoded("%4", false, NULL);
	expect_decoded("%4x", false, NULL);
	expect_decoded("%00", false, NULL);
	expect_decoded("%FF", false, NULL);
	expect_decoded("%41%", false, NULL);
}
