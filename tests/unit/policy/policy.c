/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <criterion/criterion.h>
#include <string.h>

#include "catalogue_fixture.h"

/* The catalogue of these tests: a/add and a/get, b/get and b/set. */
static struct catalogue *catalogue;
static struct config config;
static struct policy *policy;

static void set_up(void)
{
	struct toolbox *boxes[] = {
		make_toolbox("a", "add", "get", NULL), make_toolbox("b", "get", "set", NULL)};

	catalogue = catalogue_new(boxes, 2, NULL, NULL, 1);
	cr_assert(catalogue);
	for (size_t i = 0; i < 2; i++)
		package_unref(boxes[i]->package);
}

static void tear_down(void)
{
	policy_free(policy);
	config_deinit(&config);
	catalogue_free(catalogue);
}

TestSuite(policy, .init = set_up, .fini = tear_down);

static void make_policy(void)
{
	policy_free(policy);
	policy = policy_new(&config, catalogue);
	cr_assert(policy);
}

static struct text_view view_of(const char *text)
{
	return (struct text_view){text, text ? strlen(text) : 0};
}

static const struct catalogue *seen_with(const char *profile)
{
	struct policy_caller caller = {.profile = view_of(profile)};

	return policy_view(policy, &caller);
}

static struct policy_decision decide(size_t tool)
{
	const struct policy_caller caller = {0};

	return policy_decide(policy, &caller, catalogue_tool(catalogue, tool));
}

Test(policy, shows_the_catalogue_itself_to_a_caller_that_may_use_all)
{
	make_policy();
	cr_expect_eq(seen_with(NULL), catalogue);
	cr_expect_eq(seen_with("default"), catalogue);
}

Test(policy, shows_nothing_to_a_profile_that_does_not_exist)
{
	make_policy();
	cr_expect_eq(catalogue_n_tools(seen_with("guest")), 0);
	cr_expect_eq(catalogue_n_toolboxes(seen_with("guest")), 0);
	cr_expect_eq(catalogue_n_tools(seen_with("")), 0);
	cr_expect_eq(catalogue_n_tools(seen_with("Default")), 0);
}

Test(policy, hides_a_tool_that_is_not_of_its_catalogue)
{
	struct toolbox *other = make_toolbox("a", "add", NULL);
	const struct policy_caller caller = {0};

	make_policy();
	cr_expect_eq(policy_decide(policy, &caller, &other->tools[0]).verdict, POLICY_HIDDEN);
	package_unref(other->package);
}

Test(policy, asks_by_mode_unless_the_tool_is_listed)
{
	config.approval_mode = APPROVAL_STRICT;
	cr_assert_eq(text_list_add(&config.approval_allow, "b/get"), 0);
	make_policy();
	cr_expect_eq(decide(1).verdict, POLICY_ASK, "a/get");
	cr_expect_eq(decide(2).verdict, POLICY_RUN, "b/get");
	config.approval_mode = APPROVAL_OFF;
	make_policy();
	cr_expect_eq(decide(1).verdict, POLICY_RUN);
}

Test(policy, copies_a_caller_with_its_texts)
{
	char source[] = "skill", profile[] = "kids";
	const struct policy_caller caller = {
		.source = {source, 5}, .site_id = {"", 0}, .profile = {profile, 4}};
	struct policy_caller *copy = policy_caller_copy(&caller);

	memset(source, 'x', 5);
	memset(profile, 'x', 4);
	cr_expect_arr_eq(copy->source.text, "skill", 5);
	cr_expect_arr_eq(copy->profile.text, "kids", 4);
	cr_expect_null(copy->session_id.text);
	cr_expect_not_null(copy->site_id.text);
	policy_caller_free(copy);
}
