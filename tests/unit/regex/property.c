/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/property.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"

/* Expect `\LETTER{@name}` to be @expected for PCRE2; NULL: it is refused. */
static void expect_property(char letter, const char *name, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	bool is_known = property_translate(letter, name, strlen(name), &out);

	cr_expect_eq(is_known, expected != NULL, "%s", name);
	if (expected)
		cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", name, out.data);
}

Test(regex_property, has_the_short_name_of_a_category)
{
	static const char *const cases[][2] = {
		{"Letter", "\\p{L}"},
		{"Uppercase_Letter", "\\p{Lu}"},
		{"Decimal_Number", "\\p{Nd}"},
		{"Control", "\\p{Cc}"},
		{"cntrl", "\\p{Cc}"},
		{"digit", "\\p{Nd}"},
		{"punct", "\\p{P}"},
		{"Cased_Letter", "\\p{L&}"},
		{"Unassigned", "\\p{Cn}"},
		{"gc=Letter", "\\p{L}"},
		{"General_Category=Letter", "\\p{L}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_property('p', cases[i][0], cases[i][1]);
	expect_property('P', "Letter", "\\P{L}");
}

Test(regex_property, is_passed_on_by_any_other_name)
{
	static const char *const names[] = {
		"L", "Lu", "Greek", "Script=Greek", "sc=Latin", "ASCII", "Any", "AZaz09_x", "Zs"};
	char expected[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		strcpy(expected, "\\p{");
		strcat(strcat(expected, names[i]), "}");
		expect_property('p', names[i], expected);
	}
	expect_property('p', "gc=Lu", "\\p{Lu}");
}

Test(regex_property, of_assigned_characters_is_the_opposite_of_unassigned)
{
	expect_property('p', "Assigned", "\\P{Cn}");
	expect_property('P', "Assigned", "\\p{Cn}");
	expect_property('p', "Assigne", "\\p{Assigne}");
}

Test(regex_property, has_no_name_that_would_end_its_braces)
{
	static const char *const wrong[] = {"", "L}", "L{", "^L", " L", "L ", "L-u", "L\\",
		"L:", "`a", "a{", "@A", "A[", "/0", "0:", "\xC3\xA9"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		expect_property('p', wrong[i], NULL);
	expect_property('p', "gc=", "\\p{gc=}");
}
