/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/headers.h"

#include <stdio.h>

#include "client.h"
#include "mcp/client/request.h"
#include "mcp/client/tools/tools.h"
#include "mcp/param_headers.h"
#include "quotes.h"
#include "util/cleanup.h"

/* JSON is written with ' in place of ". */
struct text {
	char *bytes;
	struct json_tape tape;
};

static void read_text(struct text *text, const char *json)
{
	*text = (struct text){.bytes = quoted(json)};
	cr_assert_eq(json_tape_read(&text->tape, text->bytes, strlen(text->bytes), 64, NULL), 0,
		"%s", json);
}

static void text_deinit(struct text *text)
{
	json_tape_deinit(&text->tape);
	free(text->bytes);
}

Test(mcp_headers, repeat_the_body)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_write_headers(&out, "2025-11-25", NULL, (struct text_view){NULL, 0});
	mcp_write_headers(&out, "2026-07-28", "tools/call", TEXT_VIEW("add"));
	mcp_write_headers(&out, "2026-07-28", "tools/call", TEXT_VIEW("grö\nX: y"));
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data,
		"MCP-Protocol-Version: 2025-11-25\n"
		"MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: add\n"
		"MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\n"
		"Mcp-Name: =?base64?Z3LDtgpYOiB5?=\n");
}

#define PROPERTIES(properties) "[{'type':'object','properties':{" properties "}}]"

static void expect_params(const char *properties, const char *arguments, const char *wanted)
{
	cleanup(text_deinit) struct text schema;
	cleanup(text_deinit) struct text values;
	cleanup(buffer_deinit) struct buffer out = {0};

	read_text(&schema, properties);
	read_text(&values, arguments);
	cr_expect_null(mcp_judge_param_headers(&schema.tape, json_first(&schema.tape, 0)));
	mcp_write_param_headers(&out, &schema.tape, json_first(&schema.tape, 0), &values.tape, 0);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted, "%s: %s", arguments, out.data);
}

Test(mcp_headers, repeat_arguments)
{
	static const char *const schema = PROPERTIES(
		"'r\\u00e9':{'type':'string','x-mcp-header':'Region'},"
		"'n':{'type':'integer','x-mcp-header':'N'},'b':{'type':'boolean','x-mcp-header':'B'"
		"},"
		"'o':{'type':'object','properties':{'s':{'type':'string','x-mcp-header':'S'}}},"
		"'x-mcp-header':{'type':'object','default':{'x-mcp-header':1}},'q':true");

	expect_params(schema, "{'r\\u00e9':'e\\u0075','n':42,'b':false,'o':{'s':'x y'},'q':1}",
		"Mcp-Param-Region: eu\nMcp-Param-N: 42\nMcp-Param-B: false\nMcp-Param-S: x y\n");
	expect_params(schema, "{'r\\u00e9':null,'o':7,'b':[],'n':{}}", "");
	expect_params(schema, "{}", "");
	expect_params(schema, "{'r\\u00e9':'','o':{'s':' x'}}",
		"Mcp-Param-Region: \nMcp-Param-S: =?base64?IHg=?=\n");
	expect_params(schema, "{'r\\u00e9':'x '}", "Mcp-Param-Region: =?base64?eCA=?=\n");
	expect_params(schema, "{'r\\u00e9':'a\\tb'}", "Mcp-Param-Region: =?base64?YQli?=\n");
	expect_params(schema, "{'r\\u00e9':'=?base64?YQ==?='}",
		"Mcp-Param-Region: =?base64?PT9iYXNlNjQ/WVE9PT89?=\n");
	expect_params(schema, "{'r\\u00e9':'\\u0000'}", "Mcp-Param-Region: =?base64?AA==?=\n");
}

/* Check that our own server accepts the headers that are sent with @arguments. */
static void expect_accepted(const char *properties, const char *arguments)
{
	cleanup(text_deinit) struct text schema;
	cleanup(text_deinit) struct text values;
	cleanup(buffer_deinit) struct buffer lines = {0};
	cleanup(buffer_deinit) struct buffer call = {0};
	struct mcp_message message = {0};
	struct mcp_error error;
	const char *fields[8] = {NULL};
	size_t n = 0;

	read_text(&schema, properties);
	read_text(&values, arguments);
	mcp_write_headers(&lines, "2026-07-28", "tools/call", TEXT_VIEW("größe"));
	mcp_write_param_headers(&lines, &schema.tape, json_first(&schema.tape, 0), &values.tape, 0);
	cr_assert_not_null(buffer_terminate(&lines));
	mcp_request_call(&call,
		&(struct mcp_request){.id = 1, .era = MCP_MODERN, .client_version = "1"},
		TEXT_VIEW("größe"), TEXT_VIEW(values.bytes));
	cr_assert_not_null(buffer_terminate(&call));
	for (char *line = strtok(lines.data, "\n"); line; line = strtok(NULL, "\n"))
		fields[n++] = line;
	cr_assert_eq(judge(&message, call.data, &(struct mcp_fields){find_field, fields}, &error),
		0, "%s: %.*s", call.data, (int)error.message.size, error.message.text);
	schema.bytes[strlen(schema.bytes) - 1] = '\0';
	cr_expect_eq(mcp_check_param_headers(&message, &(struct mcp_fields){find_field, fields},
			     schema.bytes + 1, &error),
		0, "%s", arguments);
	mcp_message_deinit(&message);
}

Test(mcp_headers, are_those_that_our_server_wants)
{
	static const char *const schema =
		PROPERTIES("'a':{'type':'string','x-mcp-header':'A'},'n':{'type':'integer','x-mcp-"
			   "header':'N'},"
			   "'o':{'properties':{'b':{'type':'boolean','x-mcp-header':'B'}}}");

	expect_accepted(schema, "{'a':' caf\\u00e9\\r\\nX: y','n':1e2,'o':{'b':true}}");
	expect_accepted(schema, "{'a':'','n':null}");
	expect_accepted(schema, "{'a':'=?base64?YQ==?='}");
	expect_accepted(schema, "{}");
}

static void expect_judged(const char *schema, const char *reason)
{
	cleanup(text_deinit) struct text text;
	const char *found;

	read_text(&text, schema);
	found = mcp_judge_param_headers(&text.tape, json_first(&text.tape, 0));
	cr_assert_eq(found == NULL, reason == NULL, "%s: %s", schema, found);
	if (reason)
		cr_expect_str_eq(found, reason, "%s: %s", schema, found);
}

#define PARAM(type, name) "{'type':" type ",'x-mcp-header':" name "}"

Test(mcp_headers, that_cannot_be_sent_are_found)
{
	static const char *const names[] = {"''", "7", "null"};
	static const char *const characters[] = {
		"'a b'", "'a:b'", "'a\\u0062'", "'\u00e9'", "'a\\n'"};
	static const char *const types[] = {
		"'object'", "'array'", "'number'", "'null'", "['string']", "7"};
	static const char *const places[][2] = {{"'items':", ""}, {"'anyOf':[", "]"},
		{"'$defs':{'a':", "}"}, {"'properties':{'a':{'items':", "}}"},
		{"'patternProperties':{'a':", "}"}, {"'additionalProperties':", ""},
		{"'$defs':{'a':{'properties':{'b':", "}}}"}, {"'if':{'properties':{'b':", "}}"}};
	char schema[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(schema, sizeof(schema), PROPERTIES("'a':" PARAM("'string'", "%s")),
			names[i]);
		expect_judged(schema, "an x-mcp-header is no name of 1 to 128 characters");
	}
	for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++) {
		snprintf(schema, sizeof(schema), PROPERTIES("'a':" PARAM("'string'", "%s")),
			characters[i]);
		expect_judged(schema,
			"an x-mcp-header has a character that no name of a header may have");
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		snprintf(schema, sizeof(schema), PROPERTIES("'a':" PARAM("%s", "'A'")), types[i]);
		expect_judged(schema,
			"a parameter with an x-mcp-header is no string, integer or boolean");
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(schema, sizeof(schema), "[{%s" PARAM("'string'", "'A'") "%s}]",
			places[i][0], places[i][1]);
		expect_judged(schema, "an x-mcp-header is not at a parameter");
	}
	expect_judged(PROPERTIES("'a':{'x-mcp-header':'A'}"),
		"a parameter with an x-mcp-header is no string, integer or boolean");
	expect_judged(PROPERTIES("'a':" PARAM("'string'", "'My'") ",'b':{'properties':{'c':" PARAM(
			      "'integer'", "'mY'") "}}"),
		"two parameters have the same x-mcp-header");
	expect_judged("[{'type':'string','x-mcp-header':'A','const':{'x-mcp-header':1}}]", NULL);
	expect_judged(
		PROPERTIES("'a':" PARAM("'string'", "'A'") ",'b':{'enum':[{'x-mcp-header':7}]}"),
		NULL);
}

Test(mcp_headers, are_at_most_64)
{
	cleanup(buffer_deinit) struct buffer schema = {0};

	buffer_append_string(&schema, "[{'properties':{");
	for (unsigned int i = 0; i < MCP_PARAM_HEADERS_MAX; i++)
		buffer_printf(&schema, "'%u':" PARAM("'string'", "'h%u'") ",", i, i);
	buffer_append_string(&schema, "'z':{}}}]");
	cr_assert_not_null(buffer_terminate(&schema));
	expect_judged(schema.data, NULL);
	schema.size -= strlen("{}}}]");
	buffer_append_string(&schema, PARAM("'string'", "'z'") "}}]");
	cr_assert_not_null(buffer_terminate(&schema));
	expect_judged(schema.data, "more than 64 parameters have an x-mcp-header");
}

Test(mcp_headers, that_cannot_be_sent_refuse_a_tool_over_http)
{
	cleanup(text_deinit) struct text text;

	read_text(&text,
		"[{'name':'a','inputSchema':{'properties':{'a':" PARAM("'number'", "'A'") "}}}]");
	for (int is_http = 0; is_http < 2; is_http++) {
		cleanup(mcp_server_tools_deinit) struct mcp_server_tools tools = {0};
		struct mcp_tool_rules rules = {.tools_max = 1, .is_http = is_http};

		cr_assert_eq(mcp_server_tools_read(&text.tape, 0, &rules, &tools), 0);
		cr_expect_eq(tools.n_items, is_http ? 0 : 1);
		cr_expect_eq(tools.n_refusals, is_http ? 1 : 0);
	}
}
