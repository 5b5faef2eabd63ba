/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/package.h"
#include "policy/grants.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct package package;
static struct toolbox toolbox = {.package = &package, .id = (char *)"box"};
static struct tool tool = {
	.toolbox = &toolbox, .name = (char *)"t", .definition = (char *)"{}", .definition_size = 2};

static struct buffer scope;

static struct policy_caller name(const char *session, const char *source)
{
	return (struct policy_caller){
		.session_id = {session, strlen(session)}, .source = {source, strlen(source)}};
}

static bool have(const struct grants *grants, const char *session, const char *source)
{
	const struct policy_caller caller = name(session, source);

	return grants_have(grants, &tool, &scope, &caller, 1);
}

static void add(struct grants *grants, const char *session, const char *source)
{
	const struct policy_caller caller = name(session, source);

	cr_assert_eq(grants_add(grants, &tool, &scope, &caller, 1), 0);
}

Test(grants, are_for_a_token_or_a_connection_not_for_names)
{
	struct account_book book = {0};
	struct account *first = account_new(&book);
	struct account *second = account_new(&book);
	struct policy_caller caller = name("s", "a");

	cr_assert(first && second);
	caller.account = first;
	cr_expect_eq(grantee_of(&caller, false), 0, "a bus of others");
	cr_expect_neq(grantee_of(&caller, true), 0);
	caller.account = second;
	cr_expect_neq(grantee_of(&caller, true), first->number);
	caller.door = CALL_DOOR_HTTP;
	cr_expect_eq(grantee_of(&caller, false), second->number);
	caller.token = 7;
	cr_expect_eq(grantee_of(&caller, false), 7);
	caller.account = NULL;
	caller.token = 0;
	cr_expect_eq(grantee_of(&caller, true), 0);
	account_unref(first);
	account_unref(second);
}

Test(grants, are_for_one_tool_session_source_and_grantee)
{
	struct policy_caller caller;
	struct grants grants;

	grants_init(&grants);
	cr_expect_not(have(&grants, "s", "a"));
	add(&grants, "s", "a");
	add(&grants, "s", "a");
	cr_expect_eq(grants.n, 1);
	cr_expect(have(&grants, "s", "a"));
	cr_expect_not(have(&grants, "s", "b"));
	cr_expect_not(have(&grants, "z", "a"));
	cr_expect_not(have(&grants, "", "sa"));
	cr_expect_not(have(&grants, "sa", ""));
	caller = name("s", "a");
	cr_expect_not(grants_have(&grants, &tool, &scope, &caller, 2));
	caller.token = 1;
	cr_expect_not(grants_have(&grants, &tool, &scope, &caller, 1));
	tool.name = (char *)"u";
	cr_expect_not(have(&grants, "s", "a"));
	grants_deinit(&grants);
}

Test(grants, end_with_the_definition_of_the_tool)
{
	struct grants grants;

	grants_init(&grants);
	add(&grants, "s", "a");
	tool.definition = (char *)"[]";
	cr_expect_not(have(&grants, "s", "a"));
	grants_deinit(&grants);
}

Test(grants, are_bounded_and_the_oldest_gives_way)
{
	struct grants grants;
	char session[16];

	grants_init(&grants);
	for (int i = 0; i <= GRANTS_MAX; i++) {
		snprintf(session, sizeof(session), "%d", i);
		add(&grants, session, "a");
	}
	cr_expect_eq(grants.n, GRANTS_MAX);
	cr_expect_not(have(&grants, "0", "a"));
	cr_expect(have(&grants, "1", "a"));
	cr_expect(have(&grants, session, "a"));
	grants_deinit(&grants);
}

/* Let the grants be for what @arguments have. */
static void take_scope(const char *arguments)
{
	buffer_deinit(&scope);
	grants_write_scope(&tool, &TEXT_VIEW(arguments), &scope);
}

Test(grants, are_for_one_value_of_the_argument_that_the_tool_names)
{
	struct grants grants;

	grants_init(&grants);
	take_scope("{\"id\":1}");
	cr_expect_eq(scope.size, 0, "the tool names none");
	tool.grant_key = (char *)"id";
	take_scope("{\"id\":1,\"chars\":\"x\"}");
	add(&grants, "s", "a");
	take_scope("{\"chars\":\"y\",\"id\":1}");
	cr_expect(have(&grants, "s", "a"));
	take_scope("{\"id\":2}");
	cr_expect_not(have(&grants, "s", "a"));
	take_scope("{}");
	cr_expect_not(have(&grants, "s", "a"));
	take_scope("{\"id\":");
	cr_expect_neq(buffer_status(&scope), 0);
	cr_expect_not(have(&grants, "s", "a"));
	buffer_deinit(&scope);
	grants_deinit(&grants);
}

Test(grants, are_not_needed_without_the_text_that_has_the_effect)
{
	cr_expect_not(grants_need_none(&tool, &TEXT_VIEW("{}")));
	tool.asked_key = (char *)"chars";
	cr_expect(grants_need_none(&tool, &TEXT_VIEW("{}")));
	cr_expect(grants_need_none(&tool, &TEXT_VIEW("{\"chars\":null}")));
	cr_expect(grants_need_none(&tool, &TEXT_VIEW("{\"chars\":\"\"}")));
	cr_expect_not(grants_need_none(&tool, &TEXT_VIEW("{\"chars\":\"\\u0000\"}")));
	cr_expect_not(grants_need_none(&tool, &TEXT_VIEW("{\"chars\":false}")));
	cr_expect_not(grants_need_none(&tool, &TEXT_VIEW("{\"chars\":[]}")));
	cr_expect_not(grants_need_none(&tool, &TEXT_VIEW("not JSON")));
}
