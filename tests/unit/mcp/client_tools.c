/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/tools.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* JSON is written with ' in place of ". */
struct listed {
	char *text;
	char *settings_text;
	struct json_tape tape;
	struct json_tape settings;
	struct mcp_server_tools tools;
};

static void read_json(struct json_tape *tape, const char *text)
{
	cr_assert_eq(json_tape_read(tape, text, strlen(text), 64, NULL), 0, "%s", text);
}

/* List the tools of the array @text. @settings: NULL, or the object. */
static void list(
	struct listed *listed, const char *text, struct mcp_tool_rules rules, const char *settings)
{
	*listed = (struct listed){.text = quoted(text)};
	read_json(&listed->tape, listed->text);
	if (settings) {
		listed->settings_text = quoted(settings);
		read_json(&listed->settings, listed->settings_text);
		rules.tape = &listed->settings;
		rules.settings = json_first(&listed->settings, 0);
	}
	rules.tools_max = rules.tools_max ? rules.tools_max : 1000;
	cr_assert_eq(mcp_server_tools_read(&listed->tape, 0, &rules, &listed->tools), 0);
}

static void unlist(struct listed *listed)
{
	mcp_server_tools_deinit(&listed->tools);
	json_tape_deinit(&listed->tape);
	json_tape_deinit(&listed->settings);
	free(listed->text);
	free(listed->settings_text);
}

/* Check the names of the tools and the refusals, as `a b!reason c!reason`. */
static void expect_names(const struct listed *listed, const char *wanted)
{
	cleanup(buffer_deinit) struct buffer found = {0};

	for (size_t i = 0; i < listed->tools.n_items; i++)
		buffer_printf(&found, "%s=%s|", listed->tools.items[i].name,
			listed->tools.items[i].server_name);
	for (size_t i = 0; i < listed->tools.n_refusals; i++)
		buffer_printf(&found, "%s: %s|",
			listed->tools.refusals[i].name ? listed->tools.refusals[i].name : "",
			listed->tools.refusals[i].reason);
	cr_assert_not_null(buffer_terminate(&found));
	cr_expect_str_eq(found.data, wanted, "%s", found.data);
}

#define TOOL(name) "{'name':'" name "','inputSchema':{'type':'object'}}"

static void expect_listed(
	const char *text, struct mcp_tool_rules rules, const char *settings, const char *wanted)
{
	struct listed listed;

	list(&listed, text, rules, settings);
	expect_names(&listed, wanted);
	unlist(&listed);
}

/* Check the entry of the only tool, with ' in place of ". */
static void expect_entry(const char *tool, const char *settings, const char *wanted)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *json = quoted(wanted);
	struct listed listed;

	buffer_printf(&text, "[%s]", tool);
	cr_assert_not_null(buffer_terminate(&text));
	list(&listed, text.data, (struct mcp_tool_rules){0}, settings);
	cr_assert_eq(listed.tools.n_items, 1, "%s", tool);
	cr_expect_str_eq(listed.tools.items[0].entry, json, "%s", listed.tools.items[0].entry);
	unlist(&listed);
}

Test(mcp_server_tools, are_entries_of_a_manifest)
{
	expect_entry("{'name':'a.b','title':'A','description':'Adds.\\u200b','x':1,"
		     "'inputSchema':{'type':'object', 'title':'\\ufeff'},"
		     "'outputSchema':{'description':'\\u200bx'}}",
		NULL,
		"{'name':'a_b','title':'A','description':'Adds.','argument_schema':{'type':'object'"
		","
		"'title':''}"
		","
		"'output_schema':{'description':'x'},'risk':'execute'}");
	expect_entry("{'name':'a','description':1,'inputSchema':{}}", NULL,
		"{'name':'a','description':'','argument_schema':{},'risk':'execute'}");
}

Test(mcp_server_tools, have_the_risk_of_their_annotations)
{
	static const char *const risks[][2] = {{"'readOnlyHint':true", "'read'"},
		{"'readOnlyHint':true,'destructiveHint':true", "'read'"},
		{"'readOnlyHint':false,'destructiveHint':false", "'write','destructive':false"},
		{"'destructiveHint':true", "'execute'"}, {"'readOnlyHint':1", "'execute'"},
		{"'idempotentHint':true", "'execute','idempotent':true"},
		{"'destructiveHint':null", "'execute'"}, {"", "'execute'"}};
	char tool[256];
	char entry[256];

	for (size_t i = 0; i < sizeof(risks) / sizeof(*risks); i++) {
		snprintf(tool, sizeof(tool), "{'name':'a','inputSchema':{},'annotations':{%s}}",
			risks[i][0]);
		snprintf(entry, sizeof(entry),
			"{'name':'a','description':'','argument_schema':{},'risk':%s}",
			risks[i][1]);
		expect_entry(tool, NULL, entry);
	}
}

Test(mcp_server_tools, obey_the_operator)
{
	expect_entry("{'name':'a.b','description':'theirs','annotations':{'readOnlyHint':true},"
		     "'inputSchema':{}}",
		"[{'a.b':{'risk':'write','description':'ours','cooldown_s':5,'timeout_ms':7,"
		"'triggers':['x'],'parallel':false,'name':'no','argument_schema':{}}}]",
		"{'name':'a_b','description':'ours','argument_schema':{},'risk':'write',"
		"'cooldown_s':5,'parallel':false,'timeout_ms':7,'triggers':['x']}");
	expect_entry(TOOL("a.b"), "[{'a_b':{'risk':'read'}}]",
		"{'name':'a_b','description':'','argument_schema':{'type':'object'},'risk':'read'"
		"}");
	expect_entry(TOOL("a.b"), "[{'a_b':1}]",
		"{'name':'a_b','description':'','argument_schema':{'type':'object'},"
		"'risk':'execute'}");
}

Test(mcp_server_tools, are_chosen_by_either_name)
{
	static const char *const some[] = {"get*", "a_b"};
	static const char *const none[] = {"*_all", "get.x"};
	static const char *const text =
		"[" TOOL("get.x") "," TOOL("get_all") "," TOOL("a.b") "," TOOL("c") "]";

	expect_listed(text, (struct mcp_tool_rules){.include = {some, 2}}, NULL,
		"get_x=get.x|get_all=get_all|a_b=a.b|c: it is not included|");
	expect_listed(text, (struct mcp_tool_rules){.exclude = {none, 2}}, NULL,
		"a_b=a.b|c=c|get.x: it is not included|get_all: it is not included|");
	expect_listed(text, (struct mcp_tool_rules){.include = {some, 2}, .exclude = {none, 2}},
		NULL,
		"a_b=a.b|get.x: it is not included|get_all: it is not included|"
		"c: it is not included|");
}

Test(mcp_server_tools, with_the_name_of_an_earlier_one_are_refused)
{
	static const char *const ours[] = {"a_b"};

	expect_listed("[" TOOL("a.b") "," TOOL("c") "," TOOL("a_b") "," TOOL("a.b") "]",
		(struct mcp_tool_rules){0}, NULL,
		"a_b=a.b|c=c|a_b: an earlier tool of the server has the same name here|"
		"a.b: an earlier tool of the server has the same name here|");
	/* Our name of one that is the server's of another means the other. */
	expect_listed("[" TOOL("a.b") "," TOOL("a_b") "]",
		(struct mcp_tool_rules){.exclude = {ours, 1}}, NULL,
		"a_b=a.b|a_b: it is not included|");
	expect_listed("[" TOOL("a.b") "," TOOL("a_b") "]",
		(struct mcp_tool_rules){.include = {ours, 1}}, NULL,
		"a_b=a_b|a.b: it is not included|");
}

Test(mcp_server_tools, that_are_wrong_cost_only_themselves)
{
	expect_listed("[1,{},{'name':''},{'name':7},{'name':'x\\u0000y'},{'name':'a'},"
		      "{'name':'b','inputSchema':true},"
		      "{'name':'c','inputSchema':{'type':'string'}}," TOOL(
			      "d") ","
				   "{'name':'e','inputSchema':{},'outputSchema':7}]",
		(struct mcp_tool_rules){0}, NULL,
		"d=d|e=e|: a tool has no name|: a tool has no name|: a tool has no name|"
		": a tool has no name|: a tool has a name with U+0000|"
		"a: its inputSchema is not an object|"
		"b: its inputSchema is not an object|"
		"c: its inputSchema does not describe an object|");
}

Test(mcp_server_tools, without_a_usable_output_schema_have_none)
{
	expect_entry("{'name':'a','inputSchema':{},'outputSchema':[]}", NULL,
		"{'name':'a','description':'','argument_schema':{},'risk':'execute'}");
}

Test(mcp_server_tools, with_an_unknown_language_are_read_in_the_usual_one)
{
	expect_entry("{'name':'a','inputSchema':{'$schema':'https://json-schema.org/draft/2019-09/"
		     "schema','type':'object'},"
		     "'outputSchema':{'$schema':'http://json-schema.org/draft-07/schema#'}}",
		NULL,
		"{'name':'a','description':'','argument_schema':{'type':'object'},"
		"'output_schema':{'$schema':'http://json-schema.org/draft-07/schema#'},"
		"'risk':'execute'}");
	expect_entry("{'name':'a','inputSchema':{'type':'object','$schema':7,'x':{'$schema':''}}}",
		NULL,
		"{'name':'a','description':'','argument_schema':{'type':'object',"
		"'x':{'$schema':''}},'risk':'execute'}");
}

Test(mcp_server_tools, with_a_long_description_have_its_beginning)
{
	static char text[MCP_DESCRIPTION_BYTES + 200] = "[{'name':'a','inputSchema':{},"
							"'title':'T\\u200b','description':'";
	size_t size = strlen(text);
	struct listed listed;

	memset(text + size, 'x', MCP_DESCRIPTION_BYTES - 1);
	strncat(text, "€ y'}]", 10);
	list(&listed, text, (struct mcp_tool_rules){0}, NULL);
	cr_assert_eq(listed.tools.n_items, 1);
	cr_expect(listed.tools.items[0].is_cut);
	cr_expect_eq(listed.tools.items[0].n_hidden, 1);
	cr_expect_str_eq(listed.tools.items[0].title, "T");
	cr_expect(utf8_is_valid(listed.tools.items[0].entry, strlen(listed.tools.items[0].entry)));
	cr_expect_not_null(strstr(listed.tools.items[0].entry, "xx\",\"argument_schema\""));
	unlist(&listed);
	text[size + MCP_DESCRIPTION_BYTES - 1] = '\0';
	strncat(text, "y'}]", 10);
	list(&listed, text, (struct mcp_tool_rules){0}, NULL);
	cr_expect_not(listed.tools.items[0].is_cut);
	unlist(&listed);
}

Test(mcp_server_tools, are_as_many_as_are_allowed)
{
	expect_listed("[" TOOL("a") ",{'name':'b'}," TOOL("c") "," TOOL("d") "," TOOL("a") "]",
		(struct mcp_tool_rules){.tools_max = 1}, NULL,
		"a=a|b: its inputSchema is not an object|"
		"a: an earlier tool of the server has the same name here|"
		": 2 tools are more than the 1 that are allowed|");
}

Test(mcp_server_tools, that_are_refused_are_counted_from_the_hundredth_on)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct listed listed;

	buffer_append_string(&text, "[" TOOL("a") "," TOOL("b"));
	for (unsigned int i = 0; i < MCP_REFUSALS_MAX + 5; i++)
		buffer_append_string(&text, ",1");
	buffer_append_char(&text, ']');
	cr_assert_not_null(buffer_terminate(&text));
	list(&listed, text.data, (struct mcp_tool_rules){.tools_max = 1}, NULL);
	cr_expect_eq(listed.tools.n_refusals, MCP_REFUSALS_MAX + 1);
	cr_expect_eq(listed.tools.n_more, 5);
	cr_expect_str_eq(listed.tools.refusals[MCP_REFUSALS_MAX].reason,
		"1 tool is more than the 1 that are allowed");
	unlist(&listed);
}

Test(mcp_server_tools, after_the_first_100000_are_not_looked_at)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct listed listed;

	buffer_append_char(&text, '[');
	for (unsigned int i = 0; i < MCP_ELEMENTS_MAX; i++)
		buffer_append_string(&text, "1,");
	buffer_append_string(&text, TOOL("a") "]");
	cr_assert_not_null(buffer_terminate(&text));
	list(&listed, text.data, (struct mcp_tool_rules){0}, NULL);
	cr_expect_eq(listed.tools.n_items, 0);
	cr_expect_str_eq(listed.tools.refusals[MCP_REFUSALS_MAX].reason,
		"the tools after the first 100000 are not looked at");
	unlist(&listed);
}

Test(mcp_server_tools, have_descriptions_without_blanks_around_them)
{
	struct listed listed;

	list(&listed,
		"[{'name':'a','description':'\\n\\n   Read a file.\\n  Whole. "
		"\\n','inputSchema':{}}]",
		(struct mcp_tool_rules){0}, NULL);
	cr_assert_eq(listed.tools.n_items, 1);
	cr_expect_not_null(
		strstr(listed.tools.items[0].entry, "\"description\":\"Read a file.\\n  Whole.\""),
		"%s", listed.tools.items[0].entry);
	unlist(&listed);
}

/* ── pins ────────────────────────────────────────────────────────────────────────────────────── */

static void expect_pin(const char *tool, const char *digits)
{
	cleanup_free char *text = quoted(tool);
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	unsigned char pin[MCP_PIN_BYTES];
	char found[2 * MCP_PIN_BYTES + 1];

	read_json(&tape, text);
	cr_assert_eq(mcp_pin(&tape, 0, pin), 0);
	for (size_t i = 0; i < sizeof(pin); i++)
		snprintf(found + 2 * i, 3, "%02x", pin[i]);
	cr_expect_str_eq(found, digits, "%s: %s", tool, found);
}

/* The digests come from sha256sum of the canonical texts. */
Test(mcp_pin, is_that_of_the_tool_as_it_was_sent)
{
	static const char *const pin =
		"157b504a14e20c6997b33c56a0eb4f0ab78f55bbb4a60ab294906ec8075c878d";

	expect_pin("{'name':'a','description':'d','inputSchema':{'b':1.0,'a':[]},"
		   "'outputSchema':{}}",
		pin);
	expect_pin("{'outputSchema':{ },'_meta':'x','inputSchema':{'a':[ ],'\\u0062':1.0},"
		   "'description':'\\u0064','name':'a'}",
		pin);
	expect_pin(
		"{'name':'a'}", "1825fa73995d5b34f885e8b418704458a0a8d92479cab986f02899f6b89c33cf");
	expect_pin("{'name':'a','description':null}",
		"1825fa73995d5b34f885e8b418704458a0a8d92479cab986f02899f6b89c33cf");
	expect_pin("{'name':'a\\u200b'}",
		"bbfaa322f8a61409923fd908e61695a33ac936592343ea73d421de07a854a170");
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_server_tools, survive_that_memory_is_short)
{
	cleanup_free char *text = quoted("[1," TOOL("a.b") "," TOOL(
		"a_b") ",{'name':'c','title':'C',"
		       "'description':'D','inputSchema':{},'outputSchema':{}}]");
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct mcp_tool_rules rules = {.tools_max = 1};

	read_json(&tape, text);
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct mcp_server_tools tools = {0};
		int r = mcp_server_tools_read(&tape, 0, &rules, &tools);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		mcp_server_tools_deinit(&tools);
	}
}
