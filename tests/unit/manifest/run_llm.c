/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/tool/run_llm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "manifest_fixture.h"

/* The key run_llm of a tool, and the listed and the checked schema. */

TestSuite(manifest_run_llm, .init = manifest_set_up, .fini = manifest_tear_down);

#define LINE(members)                                                                              \
	"{'kind':'command','tools':[{'name':'f','command':{'shell':'ls'}" members "}]}"
#define SCHEMA(more)                                                                               \
	",'argument_schema':{'type':'object','properties':{'a':{'type':'string'}" more "}}"
#define OWN  ",'run_llm':{'type':'boolean'}"
#define OURS ",\"run_llm\":{\"type\":\"boolean\",\"default\":"

/* Expect the tool with these members to list the property as @listed, once, and to be checked
 * without the property; NULL: there is no schema of its own for calls. */
static const struct tool *expect_schemas(
	const char *members, enum run_llm value, const char *listed, bool is_checked)
{
	const struct tool *tool;
	char text[512];

	snprintf(text, sizeof(text), LINE("%s"), members);
	tool = &read_good(text)->tools[0];
	cr_expect_eq(tool->run_llm, value, "%s", members);
	cr_expect(strstr(tool->argument_schema, listed), "%s: %s", members, tool->argument_schema);
	cr_assert_eq(tool->checked_schema != NULL, is_checked, "%s", members);
	if (is_checked)
		cr_expect_str_eq(tool->checked_schema,
			"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}");
	return tool;
}

Test(manifest_run_llm, lists_a_property_that_calls_are_checked_without)
{
	expect_schemas(",'run_llm':true" SCHEMA(""), RUN_LLM_YES, OURS "true", true);
	expect_schemas(",'run_llm':false" SCHEMA(""), RUN_LLM_NO, OURS "false", true);
	expect_schemas(SCHEMA(""), RUN_LLM_UNSAID, "{\"a\":{\"type\":\"string\"}}", false);
}

Test(manifest_run_llm, keeps_the_property_of_the_author)
{
	static const char listed[] = "{\"a\":{\"type\":\"string\"},\"run_llm\":{\"type\":"
				     "\"boolean\"}}";

	expect_schemas(SCHEMA(OWN), RUN_LLM_UNSAID, listed, true);
	expect_schemas(",'run_llm':true" SCHEMA(OWN), RUN_LLM_YES, listed, true);
	expect_schemas(",'run_llm':'argument'" SCHEMA(OWN), RUN_LLM_ARGUMENT, listed, false);
}

Test(manifest_run_llm, is_no_property_where_a_schema_only_has_the_word)
{
	static const char members[] =
		",'argument_schema':{'type':'object','properties':{'a':{'enum':['run_llm']}}}";

	expect_schemas(members, RUN_LLM_UNSAID, "{\"a\":{\"enum\":[\"run_llm\"]}}", false);
}

Test(manifest_run_llm, refuses_a_reference_to_the_property_that_is_taken_out)
{
	expect_refused(LINE(",'argument_schema':{'type':'object','properties':{'run_llm':{'type':"
			    "'boolean'},'b':{'$ref':'#/properties/run_llm'}}}"),
		1, "/tools",
		"the argument schema of 'f' refers to its property \"run_llm\", which calls are "
		"checked without: say \"run_llm\": \"argument\" if the tool needs it");
}

#define FUNCTION(name, more)                                                                       \
	TOOL(more "'native':{'symbol':'sqrt','parameters':[{'name':'" name "','type':'f64'}],"     \
		  "'returns':{'type':'f64'}}")

Test(manifest_run_llm, refuses_a_parameter_that_no_call_could_pass)
{
	static const char message[] =
		"the function has a parameter \"run_llm\", which is taken for the flag of that "
		"name: say \"run_llm\": \"argument\" beside \"name\"";

	expect_refused(FUNCTION("run_llm", ""), 1, "/tools/0", message);
	expect_refused(FUNCTION("run_llm", "'run_llm':true,"), 1, "/tools/0", message);
	read_good(FUNCTION("run_llm", "'run_llm':'argument',"));
	read_good(FUNCTION("run_llms", "'run_llm':true,"));
}
