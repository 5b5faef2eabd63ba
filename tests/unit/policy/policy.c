/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "config/profiles.h"
#include "scarce.h"

/* The catalogue of these tests: a/add and a/get, b/get, b/set and b/all. */
static struct catalogue *catalogue;
static struct config config;
static struct policy *policy;

static void set_up(void)
{
	struct toolbox *boxes[] = {make_toolbox("a", "add", "get", NULL),
		make_toolbox("b", "get", "set", "all", NULL)};

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

/* Define the profile @name; @names, with commas, are its tools. */
static void define(const char *name, const char *names)
{
	struct config_profile profile = {.name = strdup(name)};
	char *copy = strdup(names);
	char *rest = copy;

	for (const char *one; (one = strsep(&rest, ","));)
		if (strcmp(one, "all") == 0)
			profile.has_all = true;
		else if (*one)
			cr_assert_eq(text_list_add(&profile.tool_names, one), 0);
	free(copy);
	cr_assert_eq(config_profiles_put(&config.profiles, &profile), 0);
	config_profiles_settle(&config.profiles);
}

/* Add an access rule; NULL: the member is not matched. */
static void give(
	const char *source, const char *session_id, const char *site_id, const char *profile)
{
	config.access = reallocarray(config.access, config.n_access + 1, sizeof(*config.access));
	config.access[config.n_access++] = (struct config_access){
		.match = {.source = source ? strdup(source) : NULL,
			.session_id = session_id ? strdup(session_id) : NULL,
			.site_id = site_id ? strdup(site_id) : NULL},
		.profile = strdup(profile),
	};
}

/* The tools that @caller sees are @expected: `toolbox/tool`, with blanks. */
static void expect_view(const struct policy_caller *caller, const char *expected)
{
	const struct catalogue *view = policy_view(policy, caller);
	char seen[256] = "";

	for (size_t i = 0; i < catalogue_n_tools(view); i++) {
		const struct tool *tool = catalogue_tool(view, i);

		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s%s/%s",
			i > 0 ? " " : "", tool->toolbox->id, tool->name);
	}
	cr_expect_str_eq(seen, expected);
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);
		bool is_seen = catalogue_index(view, tool) != CATALOGUE_NONE;

		cr_expect_eq(policy_decide(policy, caller, tool).verdict != POLICY_HIDDEN, is_seen);
	}
}

static void expect_from(const char *source, const char *expected)
{
	const struct policy_caller caller = {.source = view_of(source)};

	expect_view(&caller, expected);
}

static void expect_asked(const char *profile, const char *expected)
{
	const struct policy_caller caller = {.profile = view_of(profile)};

	expect_view(&caller, expected);
}

static const char everything[] = "a/add a/get b/get b/set b/all";

Test(policy, gives_a_profile_the_tools_that_it_names)
{
	static const struct {
		const char *names;
		const char *tools;
	} cases[] = {
		{"all", everything},
		{"set", "b/set"},
		{"", ""},
		{"set,all", everything},
		{"all,nope", everything},
		{"nope", ""},
		{"set,set", "b/set"},
		{"a/*", "a/add a/get"},
		{"b/all", "b/all"},
		{"*/get", "a/get b/get"},
		{"get", "a/get b/get"},
		{"*", everything},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		define("p", cases[i].names);
		make_policy();
		expect_asked("p", cases[i].tools);
	}
}

Test(policy, has_only_the_toolboxes_of_the_tools_that_a_profile_names)
{
	define("p", "a/get,set");
	define("q", "b/set");
	make_policy();
	cr_expect_eq(catalogue_n_toolboxes(seen_with("p")), 2);
	cr_expect_eq(catalogue_n_toolboxes(seen_with("q")), 1);
	cr_expect_eq(catalogue_find_toolbox(seen_with("q"), "a", 1), -1);
	cr_expect_not(catalogue_is_shared_name(seen_with("p"), "get"));
	cr_expect(catalogue_is_shared_name(seen_with(NULL), "get"));
}

Test(policy, narrows_everything_by_a_default_that_is_defined)
{
	define("default", "get");
	define("more", "all");
	make_policy();
	expect_asked(NULL, "a/get b/get");
	expect_asked("default", "a/get b/get");
	expect_asked("more", "a/get b/get");
}

Test(policy, gives_the_profile_of_the_first_rule_that_matches)
{
	define("kids", "a/*");
	define("guests", "set");
	give("kitchen*", NULL, NULL, "kids");
	give("kitchen_2", NULL, NULL, "guests");
	give("*_door", NULL, NULL, "guests");
	give("x", NULL, NULL, "missing");
	make_policy();
	expect_from("kitchen_2", "a/add a/get");
	expect_from("front_door", "b/set");
	expect_from("x", "");
	expect_from("y", everything);
	expect_from(NULL, everything);
}

Test(policy, matches_all_members_of_a_rule_and_no_absent_one)
{
	const struct policy_caller both = {.session_id = view_of("s"), .site_id = view_of("room")};
	const struct policy_caller one = {.session_id = view_of("s")};
	const struct policy_caller neither = {.source = view_of("s")};

	define("kids", "a/*");
	define("guests", "set");
	give(NULL, "*", "*", "kids");
	give(NULL, "*", NULL, "guests");
	make_policy();
	expect_view(&both, "a/add a/get");
	expect_view(&one, "b/set");
	expect_view(&neither, everything);
	give(NULL, NULL, NULL, "kids");
	make_policy();
	expect_view(&neither, "a/add a/get");
}

Test(policy, gives_a_caller_nothing_that_its_rules_cannot_judge)
{
	static char longest[CALLER_TEXT_BYTES + 1];
	struct policy_caller caller = {.source = {longest, sizeof(longest)}};

	memset(longest, 'x', sizeof(longest));
	make_policy();
	expect_view(&caller, everything);
	give("y", NULL, NULL, "default");
	make_policy();
	expect_view(&caller, "");
	caller.source.size--;
	expect_view(&caller, everything);
	caller.is_unclear = true;
	expect_view(&caller, "");
}

Test(policy, lets_no_request_widen_what_its_rule_gave)
{
	static const struct {
		const char *asked;
		const char *tools;
	} cases[] = {
		{NULL, "a/add a/get"},
		{"kids", "a/add a/get"},
		{"more", "a/add a/get"},
		{"default", "a/add a/get"},
		{"gets", "a/get"},
		{"guests", ""},
		{"missing", ""},
		{"", ""},
	};

	define("kids", "a/*");
	define("gets", "get");
	define("guests", "set");
	define("more", "all");
	give("k", NULL, NULL, "kids");
	give("m", NULL, NULL, "missing");
	make_policy();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct policy_caller caller = {
			.source = view_of("k"), .profile = view_of(cases[i].asked)};

		expect_view(&caller, cases[i].tools);
		caller.source = view_of("m");
		expect_view(&caller, "");
	}
}

/* More pairs than are kept, over and over. */
/* The door of a caller narrows what the access rules give, and its request narrows that. */
Test(policy, narrows_by_the_profile_of_the_door)
{
	static const struct {
		const char *granted, *asked;
		size_t n_tools;
	} cases[] = {
		{NULL, NULL, 5},
		{"default", NULL, 5},
		{"gets", NULL, 2},
		{"gets", "gets", 2},
		{"gets", "of_b", 1},
		{"gets", "all", 2},
		{"nothing", NULL, 0},
		{"nothing", "gets", 0},
		{"nope", NULL, 0},
		{"gets", "nope", 0},
		{"", NULL, 0},
	};

	define("gets", "a/get,b/get");
	define("of_b", "b/*");
	define("nothing", "");
	define("all", "all");
	make_policy();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct policy_caller caller = {
			.granted = cases[i].granted, .profile = view_of(cases[i].asked)};

		cr_expect_eq(catalogue_n_tools(policy_view(policy, &caller)), cases[i].n_tools,
			"granted %s, asked %s", cases[i].granted, cases[i].asked);
	}
}

static void expect_profile(const struct policy_caller *caller, const char *expected)
{
	cleanup(buffer_deinit) struct buffer name = {0};

	policy_write_profile(policy, caller, &name);
	cr_expect_str_eq(buffer_terminate(&name), expected);
}

Test(policy, narrows_by_rule_door_and_request_at_once)
{
	const struct policy_caller caller = {.source = view_of("kitchen"),
		.granted = "gets_and_sets",
		.profile = view_of("of_b")};
	const struct catalogue *view;

	define("no_set", "a/add,a/get,b/get,b/all");
	define("gets_and_sets", "a/get,b/get,b/set");
	define("of_b", "b/*");
	give("kitchen", NULL, NULL, "no_set");
	make_policy();
	view = policy_view(policy, &caller);
	cr_assert_eq(catalogue_n_tools(view), 1);
	cr_expect_str_eq(catalogue_tool(view, 0)->name, "get");
	cr_expect_eq(policy_view(policy, &caller), view);
	expect_profile(&caller, "no_set+gets_and_sets+of_b");
}

Test(policy, names_the_profiles_that_decide)
{
	static const struct {
		const char *source, *granted, *asked, *expected;
	} cases[] = {
		{NULL, NULL, NULL, "default"},
		{"kitchen", NULL, NULL, "gets"},
		{"kitchen", "gets", "gets", "gets"},
		{"kitchen", "all", "default", "gets"},
		{NULL, "all", NULL, "all"},
		{NULL, "of_b", "all", "of_b"},
		{"boss", NULL, NULL, "all"},
		{"boss", NULL, "of_b", "of_b"},
	};

	define("gets", "a/get,b/get");
	define("of_b", "b/*");
	define("all", "all");
	give("kitchen", NULL, NULL, "gets");
	give("boss", NULL, NULL, "all");
	make_policy();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct policy_caller caller = {.source = view_of(cases[i].source),
			.granted = cases[i].granted,
			.profile = view_of(cases[i].asked)};

		expect_profile(&caller, cases[i].expected);
	}
}

Test(policy, keeps_a_bounded_number_of_what_two_profiles_have_in_common)
{
	char name[16];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		define(name, i % 2 ? "get,set" : "a/*");
	}
	give("k", NULL, NULL, "p0");
	give("l", NULL, NULL, "p1");
	make_policy();
	for (int i = 0; i < 200; i++) {
		struct policy_caller caller = {.source = view_of(i % 3 ? "k" : "l")};

		snprintf(name, sizeof(name), "p%d", i % 20);
		caller.profile = view_of(name);
		if (i % 3 && i % 2 == 0)
			expect_view(&caller, "a/add a/get");
		else if (i % 3 || i % 2 == 0)
			expect_view(&caller, "a/get");
		else
			expect_view(&caller, "a/get b/get b/set");
	}
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

Test(policy, is_whole_or_absent_without_memory)
{
	cr_assert_eq(text_list_add(&config.approval_allow, "b/get"), 0);
	give("skill", "s", "kitchen", "kids");
	for (size_t n = 0; scarce_once_after(n); n++) {
		policy_free(policy);
		policy = policy_new(&config, catalogue);
		cr_expect_eq(policy == NULL, scarce_has_failed(), "%zu", n);
	}
	cr_assert_not_null(policy);
	cr_expect_eq(catalogue_n_tools(seen_with("default")), 5u);
}

Test(policy, copies_a_caller_with_its_texts)
{
	char source[] = "skill", profile[] = "kids", granted[] = "guests";
	const struct policy_caller caller = {.source = {source, 5},
		.site_id = {"", 0},
		.profile = {profile, 4},
		.granted = granted};
	struct policy_caller *copy = policy_caller_copy(&caller);

	memset(source, 'x', 5);
	memset(profile, 'x', 4);
	memset(granted, 'x', 6);
	cr_expect_arr_eq(copy->source.text, "skill", 5);
	cr_expect_arr_eq(copy->profile.text, "kids", 4);
	cr_expect_str_eq(copy->granted, "guests");
	cr_expect_null(copy->session_id.text);
	cr_expect_not_null(copy->site_id.text);
	policy_caller_free(copy);
}
