/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/gate/close.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Return whether the texts @a and @b (' for ") are close, in both directions. */
static bool are_close(const char *a, const char *b, double tolerance)
{
	cleanup(json_tape_cleanup) struct json_tape a_tape = {0};
	cleanup(json_tape_cleanup) struct json_tape b_tape = {0};
	cleanup_free char *a_text = quoted(a);
	cleanup_free char *b_text = quoted(b);
	bool result;

	cr_assert_eq(json_tape_read(&a_tape, a_text, strlen(a_text), 16, NULL), 0, "%s", a);
	cr_assert_eq(json_tape_read(&b_tape, b_text, strlen(b_text), 16, NULL), 0, "%s", b);
	result = values_are_close(&a_tape, 0, &b_tape, 0, tolerance);
	cr_expect_eq(values_are_close(&b_tape, 0, &a_tape, 0, tolerance), result);
	return result;
}

Test(ctl_close, has_the_same_values)
{
	static const char *const cases[][2] = {
		{"2", "2.0"},
		{"1e2", "100"},
		{"null", " null"},
		{"'a'", "'\\u0061'"},
		{"[1,[2],{}]", "[1.0,[2],{}]"},
		{"{'a':1,'b':[true]}", "{'b':[true],'a':1}"},
		{"{'a':1,'b':2,'c':3}", "{'c':3,'a':1,'b':2}"},
		{"9007199254740993", "9007199254740993.0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect(are_close(cases[i][0], cases[i][1], 0), "%s", cases[i][0]);
}

Test(ctl_close, has_no_other_values)
{
	static const char *const cases[][2] = {
		{"2", "2.0000000000000000001"},
		{"9007199254740993", "9007199254740992"},
		{"0", "false"},
		{"true", "false"},
		{"'1'", "1"},
		{"'a'", "'A'"},
		{"[1,2]", "[2,1]"},
		{"[1]", "[1,1]"},
		{"[]", "{}"},
		{"{'a':1}", "{'b':1}"},
		{"{'a':1}", "{'a':1,'b':1}"},
		{"{'a':{'b':1}}", "{'a':{'b':2}}"},
		{"{'a':null}", "{}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_not(are_close(cases[i][0], cases[i][1], 0), "%s", cases[i][0]);
}

Test(ctl_close, takes_numbers_within_the_tolerance)
{
	cr_expect(are_close("1.0", "1.09", 0.1));
	cr_expect(are_close("{'n':[0.5,'x']}", "{'n':[0.25,'x']}", 0.25));
	cr_expect_not(are_close("1", "1.2", 0.1));
	cr_expect_not(are_close("'1'", "'1.0'", 1));
	cr_expect_not(are_close("1e400", "-1e400", 1));
}
