/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/mcp/tools.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "util/array.h"
#include "util/cleanup.h"

TestSuite(ctl_mcp_tools, .timeout = 20);

#define TOOL(toolbox, name, rest)                                                                  \
	"{'name':'x','description':'About " name ".','_meta':{'toolboxd/name':'" name              \
	"','toolboxd/source':{'toolbox':'" toolbox "','kind':'native'}" rest "}}"

#define THREE                                                                                      \
	"{'tools':[" TOOL("math", "add", "") "," TOOL("clock", "add",                              \
		",'toolboxd/output':{}") "," TOOL("math", "sub", ",'toolboxd/task':'required'")

static char *json;

/* Read @text, with ' in place of ", as a list of the toolboxes @ids. */
static int read_list(const char *text, const char *const *ids, size_t n_ids, bool is_bare,
	struct json_tape *tape, struct listed_tools *ret_listed)
{
	json = quoted(text);
	cr_assert_eq(json_tape_read(tape, json, strlen(json), 20, NULL), 0, "%s", json);
	return listed_tools_read(tape, ids, n_ids, is_bare, ret_listed);
}

/* Expect the listed names of THREE, in their order. */
static void expect_names(const char *const *ids, size_t n_ids, bool is_bare,
	const char *const *names, size_t n_names)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(listed_tools_deinit) struct listed_tools listed = {0};

	cr_assert_eq(read_list(THREE "]}", ids, n_ids, is_bare, &tape, &listed), 0);
	cr_assert_eq(listed.tools.n_items, n_names);
	for (size_t i = 0; i < n_names; i++) {
		cleanup(buffer_deinit) struct buffer begin = {0};
		const struct text_view *text = &listed.tools.texts[i];

		buffer_printf(&begin, "{\"name\":\"%s\",\"description\":\"About ", names[i]);
		cr_expect(
			text->size > begin.size && memcmp(text->text, begin.data, begin.size) == 0,
			"%.*s", (int)text->size, text->text);
	}
	free(json);
}

Test(ctl_mcp_tools, have_names_by_what_the_client_takes)
{
	static const char *const math[] = {"math"};
	static const char *const both[] = {"clock", "math"};
	static const char *const none[] = {"mat", "none"};

	expect_names(
		NULL, 0, false, (const char *const[]){"math__add", "clock__add", "math__sub"}, 3);
	expect_names(
		both, 2, false, (const char *const[]){"math__add", "clock__add", "math__sub"}, 3);
	/* A name of its own, unless another tool has the same. */
	expect_names(NULL, 0, true, (const char *const[]){"math__add", "clock__add", "sub"}, 3);
	/* One toolbox has no two tools of a name. */
	expect_names(math, 1, false, (const char *const[]){"add", "sub"}, 2);
	expect_names(math, 1, true, (const char *const[]){"add", "sub"}, 2);
	expect_names(none, 2, false, NULL, 0);
}

Test(ctl_mcp_tools, are_read_with_what_a_call_needs)
{
	static const char *const odd[] = {"{'tools':[5,{},{'_meta':5},{'_meta':{'toolboxd/name':"
					  "'a'}},{'_meta':{'toolboxd/source':{'toolbox':'b'}}},"
					  "{'_meta':{'toolboxd/name':7,'toolboxd/source':"
					  "{'toolbox':'b'}}}]}",
		"{'tools':[]}"};
	static const char *const bad[] = {"{}", "{'tools':5}", "[]", "{'error':'no'}"};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(listed_tools_deinit) struct listed_tools listed = {0};

	cr_assert_eq(read_list(THREE "]}", NULL, 0, false, &tape, &listed), 0);
	cr_assert_eq(listed.tools.n_items, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct mcp_listed_tool *tool = &listed.tools.items[i];
		bool is_clock = strcmp(tool->toolbox_id, "clock") == 0;
		bool is_sub = strcmp(tool->name, "sub") == 0;

		cr_expect_eq(tool->has_content, is_clock);
		cr_expect_eq(tool->may_be_task, is_sub);
		cr_expect_eq(tool->must_be_task, is_sub);
	}
	cr_expect(listed_tools_have(&listed, "math"));
	cr_expect(listed_tools_have(&listed, "clock"));
	cr_expect_not(listed_tools_have(&listed, "mat"));
	free(json);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		cleanup(json_tape_cleanup) struct json_tape other = {0};
		cleanup(listed_tools_deinit) struct listed_tools none = {0};

		cr_expect_eq(read_list(odd[i], NULL, 0, false, &other, &none), 0);
		cr_expect_eq(none.tools.n_items, 0, "%s", odd[i]);
		free(json);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup(json_tape_cleanup) struct json_tape other = {0};
		struct listed_tools none;

		cr_expect_eq(
			read_list(bad[i], NULL, 0, false, &other, &none), -EPROTO, "%s", bad[i]);
		free(json);
	}
}

Test(ctl_mcp_tools, are_another_list_when_a_text_changes)
{
	uint64_t ids[3];
	static const char *const texts[] = {
		THREE "]}", THREE "],'x':1}", THREE "," TOOL("math", "mul", "") "]}"};

	for (size_t i = 0; i < 3; i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(listed_tools_deinit) struct listed_tools listed = {0};

		cr_assert_eq(read_list(texts[i], NULL, 0, false, &tape, &listed), 0);
		ids[i] = listed.tools.id;
		free(json);
	}
	cr_expect_eq(ids[0], ids[1]);
	cr_expect_neq(ids[0], ids[2]);
}

Test(ctl_mcp_tools, are_found_by_a_name_of_one_tool)
{
	static const char names[] = "{'a':'math__add','b':'clock__add','c':'sub','d':'add','e':"
				    "'none','f':'math__su','g':5}";
	static const char *const found[] = {
		"math/add", "clock/add", "math/sub", NULL, NULL, NULL, NULL};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(json_tape_cleanup) struct json_tape wanted = {0};
	cleanup(listed_tools_deinit) struct listed_tools listed = {0};
	cleanup_free char *text = quoted(names);
	size_t n = 0;

	cr_assert_eq(read_list(THREE "]}", NULL, 0, false, &tape, &listed), 0);
	cr_assert_eq(json_tape_read(&wanted, text, strlen(text), 9, NULL), 0);
	json_each_key(key, &wanted, 0) {
		const struct mcp_listed_tool *tool =
			listed_tools_find_other(&listed, &wanted, key + 1);
		char both[64] = "";

		if (tool)
			snprintf(both, sizeof(both), "%s/%s", tool->toolbox_id, tool->name);
		cr_expect_str_eq(both, found[n] ? found[n] : "", "%zu", n);
		n++;
	}
	free(json);
}

Test(ctl_mcp_tools, are_three_when_they_are_lazy)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(listed_tools_deinit) struct listed_tools listed = {0};
	bool has_line = false;
	bool has_other = false;

	cr_assert_eq(read_list(THREE "],'toolboxes':[5,{'toolbox_id':'math'},{'toolbox_id':'math',"
				     "'description':'Sums.'},{'toolbox_id':'none','description':"
				     "'Nothing.'}]}",
			     NULL, 0, false, &tape, &listed),
		0);
	cr_assert_eq(listed_tools_make_lazy(&listed, &tape), 0);
	cr_expect(listed.tools.is_lazy);
	for (size_t i = 0; i < MCP_LAZY_TOOLS; i++) {
		const struct text_view *one = &listed.tools.lazy[i];

		cr_expect_gt(one->size, 0);
		has_line |= memmem(one->text, one->size, "Sums.", 5) != NULL;
		has_other |= memmem(one->text, one->size, "Nothing.", 8) != NULL;
	}
	cr_expect(has_line);
	cr_expect_not(has_other, "a toolbox without tools");
	free(json);
}
