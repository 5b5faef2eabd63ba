/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tools.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Tools of a turn. JSON is written with ' in place of ". */

static struct tools tools;

static void forget(void)
{
	tools_deinit(&tools);
}

TestSuite(tools, .timeout = 60, .fini = forget);

#define TOOL(box, name)                                                                            \
	"{'name':'" name "','description':'Does " name ".','toolbox_id':'" box                     \
	"','argument_schema':{'type':'object','properties':{}}}"

static void read_list(const char *list)
{
	cleanup_free char *json = quoted(list);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 64, NULL), 0, "%s", json);
	cr_assert_eq(tools_read(&tools, &tape), 0);
}

static void offer(size_t tools_max, const char *found)
{
	cleanup_free char *json = found ? quoted(found) : NULL;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (json)
		cr_assert_eq(json_tape_read(&tape, json, strlen(json), 64, NULL), 0);
	cr_assert_eq(tools_offer(&tools, tools_max, json ? &tape : NULL), 0);
}

static bool offers(const char *name)
{
	cleanup(buffer_deinit) struct buffer wanted = {0};

	buffer_printf(&wanted, "\"function\":{\"name\":\"%s\"", name);
	return memmem(tools.json.data, tools.json.size, wanted.data, wanted.size) != NULL;
}

static const char *identity(const char *model_name)
{
	static char text[256];
	const struct offered_tool *tool = tools_find(&tools, model_name, strlen(model_name));

	if (!tool)
		return "none";
	snprintf(text, sizeof(text), "%s/%s", tool->toolbox_id, tool->name);
	return text;
}

Test(tools, are_offered_as_functions)
{
	cleanup_free char *expected = quoted("{'type':'function','function':{'name':'add',"
					     "'description':'Does add.','parameters':"
					     "{'type':'object','properties':{}}}}");

	read_list("{'tools':[" TOOL("m", "add") "]}");
	offer(10, NULL);
	cr_assert(buffer_terminate(&tools.json));
	cr_expect_str_eq(tools.json.data, expected, "%s", tools.json.data);
	cr_expect_str_eq(identity("add"), "m/add");
	cr_expect_str_eq(identity("sub"), "none");
	cr_expect_str_eq(identity(""), "none");
}

Test(tools, of_one_name_are_told_apart)
{
	read_list("{'tools':[" TOOL("a", "get") "," TOOL("b", "get") "]}");
	offer(10, NULL);
	cr_expect_str_eq(identity("a__get"), "a/get");
	cr_expect_str_eq(identity("b__get"), "b/get");
	cr_expect_str_eq(identity("get"), "none");
}

Test(tools, called_like_the_pair_are_qualified)
{
	read_list("{'tools':[" TOOL("a", "search_tools") "," TOOL("a", "call_tool") "]}");
	offer(10, NULL);
	cr_expect_str_eq(identity("a__search_tools"), "a/search_tools");
	cr_expect_str_eq(identity("a__call_tool"), "a/call_tool");
	cr_expect_str_eq(identity("call_tool"), "none");
}

#define LONG_NAME "x234567890123456789012345678901234567890123456789012345678901234"

Test(tools, have_short_names)
{
	read_list("{'tools':[" TOOL("a", LONG_NAME) "," TOOL("b", LONG_NAME) "]}");
	offer(10, NULL);
	cr_assert_eq(tools.n_items, 2);
	cr_expect_eq(strlen(tools.items[0].model_name), 64);
	cr_expect_str_neq(tools.items[0].model_name, tools.items[1].model_name);
}

Test(tools, that_are_many_give_way_to_the_pair)
{
	read_list("{'tools':[" TOOL("m", "add") "," TOOL("m", "sub") "," TOOL("m", "mul") "]}");
	cr_expect(tools_are_many(&tools, 2));
	offer(2, "{'tools':[" TOOL("m", "mul") "," TOOL("m", "gone") "]}");
	cr_expect(tools.is_lazy);
	cr_expect(offers("search_tools"));
	cr_expect(offers("call_tool"));
	cr_expect(offers("mul"));
	cr_expect_not(offers("add"));
	/* Each can be called. */
	cr_expect_str_eq(identity("add"), "m/add");
}

Test(tools, beside_the_pair_are_few)
{
	cleanup(buffer_deinit) struct buffer list = {0};

	buffer_append_string(&list, "{'tools':[");
	for (int i = 0; i < TOOLS_FOUND + 4; i++)
		buffer_printf(&list, "%s{'name':'t%02d','toolbox_id':'m'}", i > 0 ? "," : "", i);
	buffer_append_string(&list, "]}");
	cr_assert(buffer_terminate(&list));
	read_list(list.data);
	offer(1, list.data);
	cr_expect(offers("t07"));
	cr_expect_not(offers("t08"));
}

Test(tools, without_names_are_left_out)
{
	read_list("{'tools':[{'name':'x'},7,{'toolbox_id':'m'}," TOOL("m", "add") "]}");
	offer(10, NULL);
	cr_expect_eq(tools.n_items, 1);
	read_list("{}");
}

Test(tools, have_descriptions_that_are_cut)
{
	cleanup(buffer_deinit) struct buffer list = {0};

	buffer_append_string(&list, "{'tools':[{'name':'x','toolbox_id':'m','description':'");
	for (int i = 0; i < TOOLS_DESCRIPTION_POINTS + 1; i++)
		buffer_append_string(&list, "ü");
	buffer_append_string(&list, "'}]}");
	cr_assert(buffer_terminate(&list));
	read_list(list.data);
	offer(10, NULL);
	cr_expect(memmem(tools.json.data, tools.json.size, "ü…\"", strlen("ü…\"")));
	cr_expect_lt(tools.json.size, 2 * TOOLS_DESCRIPTION_POINTS + 200);
}

Test(tools, that_a_search_finds_are_described)
{
	static const char found[] = "{\"tools\":[{\"name\":\"add\",\"toolbox_id\":\"m\","
				    "\"description\":\"Adds.\"}]}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *expected = quoted("{'tools':[{'name':'add','description':'Adds.',"
					     "'parameters':{'type':'object','properties':{}}}]}");

	read_list("{'tools':[" TOOL("m", "add") "]}");
	offer(0, NULL);
	cr_assert_eq(json_tape_read(&tape, found, strlen(found), 64, NULL), 0);
	tools_write_found(&tools, &tape, &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, expected, "%s", out.data);
}
