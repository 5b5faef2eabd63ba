/* SPDX-License-Identifier: Apache-2.0 */
#include "util/environment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "util/cleanup.h"

static const char two[] = "A=1\0BC=\0";

Test(environment, of_nothing_is_null)
{
	char *copy = (char *)two;

	cr_expect_eq(environment_size(NULL), 0);
	cr_expect_eq(environment_count(NULL), 0);
	cr_expect_not(environment_names(NULL, "A=1"));
	cr_expect_eq(environment_copy(NULL, &copy), 0);
	cr_expect_null(copy);
}

Test(environment, ends_with_two_nuls)
{
	cr_expect_eq(environment_size(two), sizeof(two));
	cr_expect_eq(environment_count(two), 2);
	cr_expect_str_eq(environment_next(two), "BC=");
	cr_expect_str_empty(environment_next(environment_next(two)));
}

Test(environment, knows_its_variables_by_their_whole_names)
{
	cr_expect(environment_names(two, "A=2"));
	cr_expect(environment_names(two, "BC=x"));
	cr_expect_not(environment_names(two, "B=x"));
	cr_expect_not(environment_names(two, "BCD=x"));
	cr_expect_not(environment_names(two, "1=x"));
}

Test(environment, is_the_same_when_all_its_bytes_are)
{
	cleanup_free char *copy = NULL;

	cr_assert_eq(environment_copy(two, &copy), 0);
	cr_expect_eq(environment_compare(copy, two), 0);
	copy[2] = '2';
	cr_expect_neq(environment_compare(copy, two), 0);
	cr_expect_eq(environment_compare(NULL, NULL), 0);
	cr_expect_lt(environment_compare(NULL, two), 0);
	cr_expect_gt(environment_compare(two, "A=1\0"), 0);
}

Test(environment, asks_for_the_first_locale_that_is_given)
{
	static const struct {
		const char *all, *ctype, *lang, *expected;
	} cases[] = {
		{"C", "de_DE.UTF-8", "en_US.UTF-8", "C"},
		{NULL, "de_DE.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"},
		{"", "de_DE.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"},
		{NULL, NULL, "en_US.UTF-8", "en_US.UTF-8"},
		{NULL, "", "en_US.UTF-8", "en_US.UTF-8"},
		{NULL, NULL, NULL, NULL},
		{"", "", "", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
		const char *const values[] = {cases[i].all, cases[i].ctype, cases[i].lang};
		const char *locale;

		for (size_t j = 0; j < 3; j++) {
			unsetenv(names[j]);
			if (values[j])
				setenv(names[j], values[j], 1);
		}
		locale = environment_locale();
		cr_expect_eq(!locale, !cases[i].expected, "row %zu", i);
		if (locale && cases[i].expected)
			cr_expect_str_eq(locale, cases[i].expected, "row %zu", i);
	}
}

Test(environment, is_not_copied_when_memory_is_short)
{
	char *copy = (char *)two;

	cr_assert(scarce_once_after(0));
	cr_expect_eq(environment_copy(two, &copy), -ENOMEM);
	cr_expect_eq(copy, two, "written only on success");
	cr_expect(scarce_has_failed());
}

Test(environment, has_an_order_in_which_each_pair_has_one_direction)
{
	static const char *const ordered[] = {NULL, "A=\0", "B=\0", "A=1\0", "A=2\0", "A=1\0B=\0"};
	enum { COUNT = sizeof(ordered) / sizeof(*ordered) };

	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < COUNT; j++) {
			int order = environment_compare(ordered[i], ordered[j]);

			cr_expect_eq(
				(order > 0) - (order < 0), (i > j) - (i < j), "%zu and %zu", i, j);
		}
}
