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

static bool have(const struct grants *grants, const char *session, const char *source)
{
	return grants_have(grants, &tool, session, strlen(session), source, strlen(source));
}

static void add(struct grants *grants, const char *session, const char *source)
{
	cr_assert_eq(
		grants_add(grants, &tool, session, strlen(session), source, strlen(source)), 0);
}

Test(grants, are_for_one_tool_session_and_source)
{
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
