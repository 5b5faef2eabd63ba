/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue_fixture.h"
#include "catalogue/definition.h"
#include "quotes.h"

/* The way back from the name, in the format mcp. */
#define META                                                                                       \
	"\"_meta\":{\"toolboxd/source\":{\"kind\":\"native\",\"toolbox\":\"box\"},"                \
	"\"toolboxd/name\":\"add\"}"

static void expect_written(enum definition_format format, const char *name, const char *expected)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};

	tool->risk = TOOL_READ;
	definition_write_full(
		tool, ",\"risk\":\"read\",\"examples\":[{\"args\":{\"a\":1}},{}]", &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	definition_write(tool, format, name, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	buffer_deinit(&text);
	package_unref(toolbox->package);
}

Test(definition, is_told_in_full)
{
	expect_written(DEFINITION_FULL, "box__add",
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"argument_schema\":{\"type\":\"object\"},\"output_schema\":{},"
		"\"toolbox_id\":\"box\",\"source\":{\"kind\":\"native\",\"toolbox\":\"box\"},"
		"\"risk\":\"read\","
		"\"examples\":[{\"args\":{\"a\":1}},{}]}");
}

Test(definition, is_told_to_models_in_their_formats)
{
	expect_written(DEFINITION_COMPACT, "add",
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"parameters\":{\"type\":\"object\"}}");
	expect_written(DEFINITION_OPENAI, "add",
		"{\"type\":\"function\",\"function\":{\"name\":\"add\","
		"\"description\":\"What \\\"it\\\" does\",\"parameters\":"
		"{\"type\":\"object\",\"properties\":{}}}}");
	expect_written(DEFINITION_ANTHROPIC, "add",
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"input_schema\":{\"type\":\"object\",\"properties\":{}},"
		"\"input_examples\":[{\"a\":1},{}]}");
	expect_written(DEFINITION_MCP, "add",
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"inputSchema\":{\"type\":\"object\",\"properties\":{}},\"annotations\":{"
		"\"readOnlyHint\":true}," META "}");
	expect_written(DEFINITION_MARKDOWN, "add", "### add\n\nWhat \"it\" does\n\n");
}

/* Expect the MCP definition of a tool of @risk whose definition has the members @extra to end with
 * @end. */
static void expect_hints(enum tool_risk risk, const char *extra, const char *end)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};
	char expected[512];

	tool->risk = risk;
	definition_write_full(tool, extra, &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	definition_write(tool, DEFINITION_MCP, "add", &text);
	snprintf(expected, sizeof(expected),
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\"%s," META "}", end);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
	buffer_deinit(&text);
	package_unref(toolbox->package);
}

#define INPUT ",\"inputSchema\":{\"type\":\"object\",\"properties\":{}}"

Test(definition, has_the_title_and_hints_of_the_manifest_for_mcp)
{
	static const char both[] = ",\"destructive\":false,\"idempotent\":true";

	expect_hints(
		TOOL_UNRATED, ",\"title\":\"A \\\"b\\\"\"", ",\"title\":\"A \\\"b\\\"\"" INPUT);
	expect_hints(TOOL_UNRATED, ",\"destructive\":false", INPUT);
	expect_hints(TOOL_UNRATED, both, INPUT ",\"annotations\":{\"idempotentHint\":true}");
	expect_hints(TOOL_READ, both,
		INPUT ",\"annotations\":{\"readOnlyHint\":true,\"idempotentHint\":true}");
	expect_hints(TOOL_WRITE, ",\"destructive\":true,\"idempotent\":false",
		INPUT ",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true}");
	expect_hints(TOOL_WRITE, both,
		INPUT ",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false,"
		      "\"idempotentHint\":true}");
	expect_hints(TOOL_EXECUTE, both,
		INPUT ",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,"
		      "\"openWorldHint\":true,\"idempotentHint\":true}");
}

Test(definition, for_mcp_says_that_results_are_rich_content)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};

	tool->has_content = true;
	definition_write_full(tool, "", &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	definition_write(tool, DEFINITION_MCP, "box__add", &text);
	cr_expect(strstr(buffer_terminate(&text),
			  "\"toolboxd/name\":\"add\",\"toolboxd/output\":\"content\"}}"),
		"%s", text.data);
	buffer_deinit(&text);
	package_unref(toolbox->package);
}

Test(definition, of_a_shared_name_tells_models_whose_it_is)
{
	expect_written(DEFINITION_COMPACT, "box__add",
		"{\"name\":\"box__add\",\"description\":\"What \\\"it\\\" does\","
		"\"parameters\":{\"type\":\"object\"}}");
	expect_written(DEFINITION_FULL, "add",
		"{\"name\":\"add\",\"description\":\"What \\\"it\\\" does\","
		"\"argument_schema\":{\"type\":\"object\"},\"output_schema\":{},"
		"\"toolbox_id\":\"box\",\"source\":{\"kind\":\"native\",\"toolbox\":\"box\"},"
		"\"risk\":\"read\","
		"\"examples\":[{\"args\":{\"a\":1}},{}]}");
}

Test(definition, formats_are_known_by_their_names)
{
	cr_expect_eq(definition_format_from_name("full", 4), DEFINITION_FULL);
	cr_expect_eq(definition_format_from_name("compact", 7), DEFINITION_COMPACT);
	cr_expect_eq(definition_format_from_name("openai", 6), DEFINITION_OPENAI);
	cr_expect_eq(definition_format_from_name("anthropic", 9), DEFINITION_ANTHROPIC);
	cr_expect_eq(definition_format_from_name("mcp", 3), DEFINITION_MCP);
	cr_expect_eq(definition_format_from_name("markdown", 8), DEFINITION_MARKDOWN);
	cr_expect_eq(definition_format_from_name("Full", 4), -1);
	cr_expect_eq(definition_format_from_name("ful", 3), -1);
	cr_expect_eq(definition_format_from_name("full\0", 5), -1);
	cr_expect_eq(definition_format_from_name("", 0), -1);
}

/* Expect @part in the MCP definition of a tool with these schemas. */
static void expect_schemas(const char *input, const char *output, const char *part)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};

	free(tool->argument_schema);
	free(tool->output_schema);
	tool->argument_schema = quoted(input);
	tool->output_schema = quoted(output);
	definition_write_full(tool, "", &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	cr_expect(definition_write(tool, DEFINITION_MCP, "add", &text));
	cr_expect(strstr(buffer_terminate(&text), part), "%s: %s", part, text.data);
	buffer_deinit(&text);
	package_unref(toolbox->package);
}

#define DRAFT   "'$schema':'https://json-schema.org/draft/2020-12/schema'"
#define DRAFT_7 "'$schema':'http://json-schema.org/draft-07/schema#'"
#define J_DRAFT "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\""

Test(definition, for_mcp_keeps_the_schema_of_an_author_who_names_its_draft)
{
	expect_schemas("{" DRAFT ",'anyOf':[{}]}", "{}",
		"\"inputSchema\":{\"type\":\"object\",\"properties\":{}," J_DRAFT
		",\"anyOf\":[{}]},\"_meta\"");
	expect_schemas("{'type':'object'," DRAFT ",'properties':{'a':{}}}", "{}",
		"\"inputSchema\":{\"type\":\"object\"," J_DRAFT
		",\"properties\":{\"a\":{}}},\"_meta\"");
	expect_schemas("{'type':'object','properties':{},'title':'T'}", "{}",
		"\"inputSchema\":{\"type\":\"object\",\"properties\":{},\"title\":\"T\"},\"_"
		"meta\"");
	expect_schemas("{'anyOf':[{'properties':{'a':{}}}]}", "{}",
		"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{}}},\"_meta\"");
}

Test(definition, for_mcp_has_the_schema_of_a_result_that_is_an_object)
{
	expect_schemas("{}", "{'type':'object','properties':{'a':{}}}",
		",\"outputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{}}},\"_meta\"");
	expect_schemas("{}", "{'type':'array'}", "\"properties\":{}},\"_meta\"");
	expect_schemas("{}", "{'type':['object']}", "\"properties\":{}},\"_meta\"");
	expect_schemas("{}", "true", "\"properties\":{}},\"_meta\"");
}

Test(definition, for_mcp_says_which_calls_may_be_tasks)
{
	static const struct {
		enum tool_task task;
		const char *end;
	} rows[] = {
		{TOOL_TASK_FORBIDDEN, "\"toolboxd/name\":\"add\"}}"},
		{TOOL_TASK_OPTIONAL, "\"toolboxd/name\":\"add\",\"toolboxd/task\":\"optional\"}}"},
		{TOOL_TASK_REQUIRED, "\"toolboxd/name\":\"add\",\"toolboxd/task\":\"required\"}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct toolbox *toolbox = make_toolbox("box", "add", NULL);
		struct tool *tool = &toolbox->tools[0];
		struct buffer full = {0};
		struct buffer text = {0};

		tool->task = rows[i].task;
		definition_write_full(tool, "", &full);
		tool->definition = buffer_take(&full, &tool->definition_size);
		definition_write(tool, DEFINITION_MCP, "add", &text);
		cr_expect(strstr(buffer_terminate(&text), rows[i].end), "%s", text.data);
		buffer_deinit(&text);
		package_unref(toolbox->package);
	}
}

Test(definition, is_written_in_every_format_but_anthropics_with_names_it_refuses)
{
	struct toolbox *toolbox = make_toolbox("box", "add", NULL);
	struct tool *tool = &toolbox->tools[0];
	struct buffer full = {0};
	struct buffer text = {0};

	free(tool->argument_schema);
	tool->argument_schema =
		quoted("{'type':'object','properties':{'a b':{}},'required':['a b']}");
	definition_write_full(tool, "", &full);
	tool->definition = buffer_take(&full, &tool->definition_size);
	for (int format = DEFINITION_FULL; format <= DEFINITION_MARKDOWN; format++) {
		buffer_reset(&text);
		cr_expect_eq(definition_write(tool, (enum definition_format)format, "add", &text),
			format != DEFINITION_ANTHROPIC, "%d", format);
		buffer_reset(&text);
		definition_write_reason(tool, (enum definition_format)format, &text);
		cr_expect_str_eq(buffer_terminate(&text),
			format == DEFINITION_ANTHROPIC
				? "it requires 'a b', and Anthropic's API takes names of at most "
				  "64 letters, digits, '_', '.' and '-'"
				: "",
			"%s", text.data);
	}
	buffer_deinit(&text);
	package_unref(toolbox->package);
}
