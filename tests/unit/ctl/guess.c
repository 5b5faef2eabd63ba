/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/guess.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "answering.h"

TestSuite(ctl_guess, .timeout = 60);

/* Return the complaint about @wanted among the candidates a, b and c. */
static const char *guess_among(const char *wanted, const char *a, const char *b, const char *c)
{
	struct token_guess guess = {.wanted = wanted};

	guess_compare(&guess, a);
	guess_compare(&guess, b);
	guess_compare(&guess, c);
	capture_begin();
	guess_complain(&guess, "toolbox", "see the list");
	capture_end();
	guess_deinit(&guess);
	cr_expect_null(guess.name);
	return command_complaints;
}

Test(ctl_guess, is_the_nearest_candidate_and_the_first_of_those)
{
	static const struct {
		const char *wanted;
		const char *candidates[3];
		const char *guess;
	} cases[] = {
		{"math_tool", {"math_tools", "math", "clock"}, "math_tools"},
		{"math_tool", {"clock", "math", "math_tools"}, "math_tools"},
		{"Clokc", {"math", "clock", "clocks"}, "clock"},
		{"abcd", {"abcx", "abcy", "abcz"}, "abcx"},
		{"weather", {"get_weather_now", "whether", "x"}, "get_weather_now"},
	};
	char expected[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(expected, sizeof(expected),
			"toolboxctl: no toolbox is called '%s'; is it '%s'?\n", cases[i].wanted,
			cases[i].guess);
		cr_expect_str_eq(guess_among(cases[i].wanted, cases[i].candidates[0],
					 cases[i].candidates[1], cases[i].candidates[2]),
			expected, "%s", command_complaints);
	}
}

Test(ctl_guess, is_advice_when_no_candidate_is_near)
{
	cr_expect_str_eq(guess_among("xyz", "math_tools", "", "clock"),
		"toolboxctl: no toolbox is called 'xyz'; see the list\n");
	cr_expect_str_eq(guess_among("", "math_tools", "", "clock"),
		"toolboxctl: no toolbox is called ''; is it ''?\n");
}
