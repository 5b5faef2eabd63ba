/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "plans.h"
#include "scarce.h"

static struct plans plans;

static bool keep(const char *owner, const char *session, const char *text, uint64_t now_s)
{
	return plans_keep(&plans, owner, session, text, strlen(text), now_s);
}

static void expect_plan(const char *owner, const char *session, uint64_t now_s, const char *text)
{
	const char *found = plans_find(&plans, owner, session, now_s);

	if (text)
		cr_expect_str_eq(found ? found : "nothing", text);
	else
		cr_expect_null(found);
}

Test(plans, has_one_plan_for_each_session_of_each_owner)
{
	expect_plan("", "a", 0, NULL);
	cr_assert(keep("", "a", "1", 0));
	cr_assert(keep("", "b", "2", 0));
	cr_assert(keep("x", "a", "3", 0));
	cr_assert(keep("", "a", "4", 0));
	expect_plan("", "a", 0, "4");
	expect_plan("", "b", 0, "2");
	expect_plan("x", "a", 0, "3");
	expect_plan("x", "b", 0, NULL);
	cr_expect_eq(plans.n, 3);
	plans_forget(&plans);
	expect_plan("", "a", 0, NULL);
}

Test(plans, keeps_the_bytes_that_it_was_given)
{
	cr_assert(plans_keep(&plans, "", "a", "texts", 4, 0));
	expect_plan("", "a", 0, "text");
	plans_forget(&plans);
}

Test(plans, forgets_a_plan_a_day_after_its_last_use)
{
	cr_assert(keep("", "a", "1", 100));
	expect_plan("", "a", 100 + PLANS_KEPT_S - 1, "1");
	expect_plan("", "a", 100 + 2 * PLANS_KEPT_S - 2, "1");
	expect_plan("", "a", 100 + 3 * PLANS_KEPT_S - 2, NULL);
	cr_expect_eq(plans.n, 0);
}

Test(plans, gives_the_place_of_the_idlest_session_to_one_more)
{
	char session[16];

	for (unsigned int i = 0; i < PLANS_MAX; i++) {
		snprintf(session, sizeof(session), "%u", i);
		cr_assert(keep("", session, session, i));
	}
	expect_plan("", "0", PLANS_MAX, "0");
	cr_assert(keep("", "more", "m", PLANS_MAX));
	cr_expect_eq(plans.n, PLANS_MAX);
	expect_plan("", "0", PLANS_MAX, "0");
	expect_plan("", "1", PLANS_MAX, NULL);
	expect_plan("", "2", PLANS_MAX, "2");
	expect_plan("", "more", PLANS_MAX, "m");
	cr_assert(keep("", "2", "again", PLANS_MAX));
	expect_plan("", "3", PLANS_MAX, "3");
	plans_forget(&plans);
}

/* A caller of HTTP names as many sessions as it likes. */
Test(plans, of_an_owner_with_many_give_way_before_all_others)
{
	char session[16];

	for (unsigned int i = 0; i < PLANS_MAX; i++) {
		snprintf(session, sizeof(session), "%u", i);
		cr_assert(keep(i < PLANS_MAX / 4 * 3 - 1 ? "" : "x", session, session, i));
	}
	cr_assert(keep("x", "more", "m", PLANS_MAX));
	expect_plan("", "0", PLANS_MAX, "0");
	expect_plan("x", "191", PLANS_MAX, NULL);
	expect_plan("x", "192", PLANS_MAX, "192");
	expect_plan("x", "more", PLANS_MAX, "m");
	cr_assert(keep("y", "a", "y", PLANS_MAX));
	expect_plan("", "1", PLANS_MAX, NULL);
	cr_expect_eq(plans.n, PLANS_MAX);
	plans_forget(&plans);
}

Test(plans, changes_nothing_without_memory)
{
	cr_assert(keep("", "a", "1", 0));
	cr_assert(scarce_once_after(0));
	cr_expect_not(keep("", "a", "2", 0));
	cr_expect(scarce_has_failed());
	expect_plan("", "a", 0, "1");
	cr_expect_eq(plans.n, 1);
	plans_forget(&plans);
}
