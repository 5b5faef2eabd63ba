/* SPDX-License-Identifier: Apache-2.0 */
#include "call/toolbox_sandbox.h"

#include <criterion/criterion.h>
#include <string.h>

static void read_sandbox(const char *text, struct toolbox_sandbox *sandbox)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct sandbox_mistake mistake = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(toolbox_sandbox_read(&tape, 0, "/base", sandbox, &mistake), 0, "%s",
		mistake.expected);
}

static void expect_written(const struct toolbox_sandbox *sandbox, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	toolbox_sandbox_write(sandbox, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

Test(toolbox_sandbox, is_written_as_it_was_read)
{
	struct toolbox_sandbox sandbox = {0};

	expect_written(&sandbox, "{\"class\":\"compute\"}");
	read_sandbox("{\"class\":\"net\",\"read\":[\"/a\",\"b\"],\"write\":[\"/c\",\"/d\",\"/e\"]}",
		&sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],"
				 "\"write\":[\"/c\",\"/d\",\"/e\"]}");
	read_sandbox("{\"class\":null,\"read\":null,\"write\":[]}", &sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],\"write\":[]}");
	read_sandbox("{\"unix\":true}", &sandbox);
	expect_written(&sandbox, "{\"class\":\"net\",\"read\":[\"/a\",\"/base/b\"],\"write\":[],"
				 "\"unix\":true}");
	toolbox_sandbox_deinit(&sandbox);
}

Test(toolbox_sandbox, is_overridden_by_the_members_that_another_has)
{
	struct toolbox_sandbox sandbox = {0};
	struct toolbox_sandbox paths = {0};
	struct toolbox_sandbox class = {0};

	read_sandbox("{\"class\":\"command\",\"read\":[\"/a\"],\"write\":[\"/b\"]}", &sandbox);
	read_sandbox("{\"read\":[\"/c\",\"/d\",\"/e\"]}", &paths);
	read_sandbox("{\"class\":\"compute\"}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	expect_written(&sandbox, "{\"class\":\"command\",\"read\":[\"/c\",\"/d\",\"/e\"],"
				 "\"write\":[\"/b\"]}");
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	expect_written(&sandbox, "{\"class\":\"compute\",\"read\":[\"/c\",\"/d\",\"/e\"],"
				 "\"write\":[\"/b\"]}");
	cr_expect(sandbox.has_class && !paths.has_class);
	read_sandbox("{\"unix\":true}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect(sandbox.has_unix);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	cr_expect(sandbox.has_unix, "a member that is not given replaces nothing");
	read_sandbox("{\"unix\":false}", &paths);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &paths), 0);
	cr_expect(!sandbox.has_unix);
	toolbox_sandbox_deinit(&sandbox);
	toolbox_sandbox_deinit(&paths);
	toolbox_sandbox_deinit(&class);
}

Test(toolbox_sandbox, has_no_unix_sockets_in_a_class_of_the_operator_that_does_not_name_them)
{
	struct toolbox_sandbox sandbox = {0};
	struct toolbox_sandbox class = {0};

	read_sandbox("{\"class\":\"compute\",\"unix\":true}", &sandbox);
	read_sandbox("{\"class\":\"compute\"}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect_not(sandbox.has_unix);
	read_sandbox("{\"class\":\"compute\",\"unix\":true}", &class);
	cr_assert_eq(toolbox_sandbox_override(&sandbox, &class), 0);
	cr_expect(sandbox.has_unix);
	toolbox_sandbox_deinit(&class);
	toolbox_sandbox_deinit(&sandbox);
}

static void expect_order(const char *narrow, const char *wide)
{
	struct toolbox_sandbox left = {0};
	struct toolbox_sandbox right = {0};

	read_sandbox(narrow, &left);
	read_sandbox(wide, &right);
	cr_expect_lt(toolbox_sandbox_compare(&left, &right), 0, "%s %s", narrow, wide);
	cr_expect_gt(toolbox_sandbox_compare(&right, &left), 0, "%s %s", narrow, wide);
	cr_expect_eq(toolbox_sandbox_compare(&left, &left), 0, "%s", narrow);
	toolbox_sandbox_deinit(&left);
	toolbox_sandbox_deinit(&right);
}

Test(toolbox_sandbox, has_its_place_in_an_order)
{
	struct toolbox_sandbox less = {.memory_mb = 1};
	struct toolbox_sandbox more = {.memory_mb = 2};

	expect_order("{\"class\":\"compute\",\"read\":[\"/z\"]}", "{\"class\":\"net\"}");
	expect_order("{\"class\":\"command\"}", "{\"class\":\"none\"}");
	expect_order("{\"class\":\"net\"}", "{\"class\":\"net\",\"unix\":true}");
	expect_order("{\"read\":[\"/z\"]}", "{\"read\":[\"/a\",\"/b\"]}");
	expect_order("{\"read\":[\"/a\",\"/b\"]}", "{\"read\":[\"/a\",\"/c\"]}");
	expect_order("{}", "{\"write\":[]}");
	expect_order("{\"write\":[\"/a\"]}", "{\"write\":[\"/b\"]}");
	cr_expect_lt(toolbox_sandbox_compare(&less, &more), 0);
	cr_expect_gt(toolbox_sandbox_compare(&more, &less), 0);
}
