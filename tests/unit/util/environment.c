/* SPDX-License-Identifier: Apache-2.0 */
#include "util/environment.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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
	char *copy = NULL;

	cr_assert_eq(environment_copy(two, &copy), 0);
	cr_expect_eq(environment_compare(copy, two), 0);
	copy[2] = '2';
	cr_expect_neq(environment_compare(copy, two), 0);
	cr_expect_eq(environment_compare(NULL, NULL), 0);
	cr_expect_lt(environment_compare(NULL, two), 0);
	cr_expect_gt(environment_compare(two, "A=1\0"), 0);
	free(copy);
}
