/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/filter.h"

#include <criterion/criterion.h>

#define N_OF(array) (sizeof(array) / sizeof(*(array)))

Test(filter, offers_all_when_nothing_is_set)
{
	struct filter filter = {0};

	cr_expect(filter_offers(&filter, "math", "add"));
}

Test(filter, offers_only_what_is_enabled)
{
	static const char *const names[] = {"add", "libm/sqrt", "volume/*"};
	struct filter filter = {.enabled = names, .n_enabled = N_OF(names)};

	cr_expect(filter_offers(&filter, "math", "add"), "a bare name in any toolbox");
	cr_expect(filter_offers(&filter, "other", "add"));
	cr_expect(filter_offers(&filter, "libm", "sqrt"));
	cr_expect_not(filter_offers(&filter, "math", "sqrt"));
	cr_expect(filter_offers(&filter, "volume", "set"));
	cr_expect_not(filter_offers(&filter, "volume2", "set"));
}

Test(filter, offers_all_but_what_is_disabled)
{
	static const char *const names[] = {"add", "libm/*"};
	struct filter filter = {.disabled = names, .n_disabled = N_OF(names)};

	cr_expect_not(filter_offers(&filter, "math", "add"));
	cr_expect_not(filter_offers(&filter, "libm", "sqrt"));
	cr_expect(filter_offers(&filter, "math", "subtract"));
}

Test(filter, does_not_look_at_what_is_disabled_once_anything_is_enabled)
{
	static const char *const enabled[] = {"add"};
	static const char *const disabled[] = {"add"};
	struct filter filter = {enabled, 1, disabled, 1};

	cr_expect(filter_offers(&filter, "math", "add"));
}

Test(filter, takes_names_exactly)
{
	cr_expect_not(filter_pattern_matches("Add", "math", "add"));
	cr_expect_not(filter_pattern_matches("ad", "math", "add"));
	cr_expect_not(filter_pattern_matches("add ", "math", "add"));
	cr_expect_not(filter_pattern_matches("math/ad", "math", "add"));
	cr_expect_not(filter_pattern_matches("mat/add", "math", "add"));
	cr_expect_not(filter_pattern_matches("math/add/", "math", "add"));
	cr_expect_not(filter_pattern_matches("/add", "math", "add"));
	cr_expect_not(filter_pattern_matches("math/", "math", "add"));
	cr_expect_not(filter_pattern_matches("", "math", "add"));
}

Test(filter, knows_a_star_only_for_all_of_a_toolbox)
{
	cr_expect(filter_pattern_matches("math/*", "math", "add"));
	cr_expect_not(filter_pattern_matches("*", "math", "add"));
	cr_expect_not(filter_pattern_matches("*/add", "math", "add"));
	cr_expect_not(filter_pattern_matches("math/a*", "math", "add"));
}
