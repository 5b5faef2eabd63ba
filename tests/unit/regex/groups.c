/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "util/array.h"

static char seen[256];

static void note_group(void *data, const char *name, const char *text, size_t size)
{
	size_t used = strlen(seen);

	cr_expect_eq(data, seen);
	snprintf(seen + used, sizeof(seen) - used, "%s=%.*s;", name, (int)size, text);
}

static const struct {
	const char *pattern;
	const char *text;
	const char *groups; /* NULL: no match */
} rows[] = {
	{"(?<a>\\d+) plus (?<b>\\d+)", "what is 3 plus 44?", "a=3;b=44;"},
	{"(?<b>\\d+) from (?<a>\\d+)", "1 from 3", "a=3;b=1;"},
	{"(?<a>\\d+)( and (?<b>\\d+))?", "3", "a=3;"},
	{"(?<a>\\d*)x", "x", "a=;"},
	{"(?J)(?:x(?<a>\\d)|y(?<a>\\d))", "y7", "a=7;"},
	{"(?J)(?<a>\\d)(?<a>\\d)", "12", "a=1;"},
	{"(\\d+) plus (\\d+)", "3 plus 4", ""},
	{"(?<a>\\d+)", "none", NULL},
};

Test(regex_groups, are_those_of_the_match_once_for_a_name)
{
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(regex_deinit) struct regex regex = {0};
		struct regex_error error;
		enum regex_result expected = rows[i].groups ? REGEX_MATCHES : REGEX_DIFFERS;

		seen[0] = '\0';
		cr_assert_eq(regex_compile(rows[i].pattern, strlen(rows[i].pattern),
				     PCRE2_UTF | PCRE2_AUTO_CALLOUT, 0, &regex, &error),
			0, "%s", rows[i].pattern);
		cr_expect_eq(regex_match_groups(&regex, scratch, rows[i].text, strlen(rows[i].text),
				     note_group, seen),
			expected, "%s", rows[i].pattern);
		cr_expect_str_eq(seen, rows[i].groups ? rows[i].groups : "", "%s", rows[i].pattern);
	}
}

Test(regex_groups, have_names_in_the_order_of_their_bytes)
{
	static const char pattern[] = "(?<room>a)(?<level>b)(c)";
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;

	cr_assert_eq(regex_compile(pattern, strlen(pattern), 0, 0, &regex, &error), 0);
	cr_assert_eq(regex_n_groups(&regex), 2);
	cr_expect_str_eq(regex_group_name(&regex, 0), "level");
	cr_expect_str_eq(regex_group_name(&regex, 1), "room");
}

Test(regex_groups, of_a_search_over_its_bound_are_not_passed)
{
	static const char pattern[] = "^(?<all>(a+)+)$";
	static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;

	seen[0] = '\0';
	cr_assert_eq(regex_compile(pattern, strlen(pattern), 0, 0, &regex, &error), 0);
	cr_expect_eq(regex_match_groups(&regex, scratch, text, strlen(text), note_group, seen),
		REGEX_TOO_COSTLY);
	cr_expect_str_eq(seen, "");
}
