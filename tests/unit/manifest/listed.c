/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/listed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_fixture.h"
#include "quotes.h"
#include "mcp/client/tools/tools.h"
#include "scarce.h"

/* Tools of a server, as its host lists them. */

static struct manifest_reader *reader;
static struct diagnostics found;

static void set_up(void)
{
	manifest_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void tear_down(void)
{
	diagnostics_deinit(&found);
	manifest_reader_free(reader);
	manifest_tear_down();
}

TestSuite(manifest_listed, .init = set_up, .fini = tear_down, .timeout = 60);

/* Read the list in @described, as of a server with the members @rules of its manifest. */
static int take(const char *rules, const char *described)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	char *json = quoted(described);
	char manifest[512];
	int r;

	snprintf(manifest, sizeof(manifest), "{'kind':'mcp','mcp':{'command':['x']}%s}", rules);
	read_good(manifest);
	diagnostics_deinit(&found);
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0, "%s",
		described);
	r = manifest_take_listed(reader, &tape, NULL, package, &found);
	free(json);
	return r;
}

/* Expect the names of the offered tools, and a line `NAME: reason` for each tool left out. */
static void expect_tools(const char *offered, const char *left_out)
{
	cleanup(buffer_deinit) struct buffer names = {0};
	cleanup(buffer_deinit) struct buffer reasons = {0};

	for (size_t i = 0; i < toolbox->n_tools; i++)
		buffer_printf(&names, "%s%s", i > 0 ? " " : "", toolbox->tools[i].name);
	for (size_t i = 0; i < package->left_out.n_items; i++) {
		const struct skipped *one = &package->left_out.items[i];

		buffer_printf(&reasons, "%s: %s\n", one->name ? one->name : "-", one->reason);
	}
	cr_expect_str_eq(buffer_terminate(&names), offered);
	cr_expect_str_eq(buffer_terminate(&reasons), left_out, "%s", reasons.data);
}

#define TOOL_NAMED(name) "{'name':'" name "','inputSchema':{'type':'object'}}"

Test(manifest_listed, offers_the_tools_of_a_server)
{
	cr_assert_eq(take("", "{'list':[" TOOL_NAMED("add") "," TOOL_NAMED("sub") "]}"), 0);
	expect_tools("add sub", "");
	cr_expect_str_eq(toolbox->tools[0].server_name, "add");
	cr_expect_eq(strlen(toolbox->tools[0].pin), 2 * MCP_PIN_BYTES);
	cr_expect_str_neq(toolbox->tools[0].pin, toolbox->tools[1].pin);
	cr_expect_eq(found.n_items, 0);
	cr_expect_not(package->mcp.is_legacy);
	cr_expect_neq(package->mcp.list, 0);
}

Test(manifest_listed, offers_the_tools_that_the_operator_has_chosen)
{
	static const char list[] = "{'list':[" TOOL_NAMED("read_a") "," TOOL_NAMED(
		"read_b") "," TOOL_NAMED("write") "]}";

	cr_assert_eq(take(",'include':['read_*'],'exclude':['read_b']", list), 0);
	cr_expect_eq(toolbox->n_tools, 1);
	cr_expect_str_eq(toolbox->tools[0].name, "read_a");
	cr_assert_eq(take(",'exclude':['*']", list), 0);
	cr_expect_eq(toolbox->n_tools, 0);
	cr_assert_eq(take(",'risk':'read'", list), 0);
	cr_expect_eq(toolbox->n_tools, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(toolbox->tools[i].risk, TOOL_READ);
	cr_assert_eq(take(",'tools':{'write':{'risk':'execute','description':'mine'}}", list), 0);
	cr_expect_eq(toolbox->tools[2].risk, TOOL_EXECUTE);
	cr_expect_str_eq(toolbox->tools[2].description, "mine");
}

Test(manifest_listed, leaves_out_a_tool_that_is_wrong_and_no_other)
{
	cr_assert_eq(take("", "{'list':[" TOOL_NAMED(
				      "good") ",{'name':'bad','inputSchema':5},7,"
					      "{'inputSchema':{'type':'object'}}," TOOL_NAMED(
						      "too") "]}"),
		0);
	cr_expect_eq(toolbox->n_tools, 2);
	cr_expect_str_eq(toolbox->tools[0].name, "good");
	cr_expect_str_eq(toolbox->tools[1].name, "too");
	cr_expect_eq(package->left_out.n_items, 3);
}

Test(manifest_listed, names_what_a_server_lists_none_of)
{
	cr_assert_eq(take("", "{'list':[]}"), 0);
	expect_tools("", "-: its server lists no tools\n");
	cr_assert_eq(take("", "{'list':[],'reason':'it has no tools'}"), 0);
	expect_tools("", "-: it has no tools\n");
	cr_assert_eq(
		take("", "{'list':[" TOOL_NAMED("a") "],'reason':'two pages are missing'}"), 0);
	expect_tools("a", "-: two pages are missing\n");
	cr_assert_eq(take("", "{'list':[" TOOL_NAMED("a") "],'reason':5}"), 0);
	expect_tools("a", "");
}

Test(manifest_listed, keeps_the_era_of_a_server)
{
	cr_assert_eq(take("", "{'list':[],'legacy':true}"), 0);
	cr_expect(package->mcp.is_legacy);
	cr_assert_eq(take("", "{'list':[],'legacy':'yes'}"), 0);
	cr_expect_not(package->mcp.is_legacy);
}

Test(manifest_listed, refuses_a_description_without_a_list)
{
	static const char *const wrong[] = {"{}", "{'list':{}}", "{'list':null}", "{'list':'x'}"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_eq(take("", wrong[i]), MANIFEST_E_REFUSED, "%s", wrong[i]);
		cr_assert_eq(found.n_items, 1);
		cr_expect_str_eq(found.items[0].text, "its host lists no tools");
	}
}

Test(manifest_listed, warns_of_characters_that_a_person_does_not_see)
{
	cr_assert_eq(take("", "{'list':[{'name':'a','description':'b\\u200bc\\u202ed',"
			      "'inputSchema':{'type':'object'}},"
			      "{'name':'e','description':'f\\u2060','inputSchema':"
			      "{'type':'object'}}]}"),
		0);
	cr_assert_eq(found.n_items, 2);
	cr_expect_str_eq(found.items[0].text,
		"the tool 'a': 2 characters that a person does not see were removed from its "
		"texts; they may hide instructions for a model");
	cr_expect_str_eq(found.items[1].text,
		"the tool 'e': 1 character that a person does not see was removed from its texts; "
		"they may hide instructions for a model");
	cr_expect_str_eq(toolbox->tools[0].description, "bcd");
}

Test(manifest_listed, warns_of_a_description_that_is_cut)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{'list':[{'name':'a','description':'");
	for (size_t i = 0; i <= MCP_DESCRIPTION_BYTES; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, "','inputSchema':{'type':'object'}}]}");
	cr_assert_eq(take("", buffer_terminate(&text)), 0);
	cr_assert_eq(found.n_items, 1);
	cr_expect_str_eq(found.items[0].text,
		"the tool 'a': its description is cut, because it has more than 8192 bytes");
}

Test(manifest_listed, names_three_mistakes_in_a_schema_and_counts_the_others)
{
	cr_assert_eq(take("", "{'list':[{'name':'a','inputSchema':{'type':'object','properties':{"
			      "'a':{'minimum':'x'},'b':{'minimum':'x'},'c':{'minimum':'x'},"
			      "'d':{'minimum':'x'},'e':{'minimum':'x'}}}}]}"),
		0);
	cr_assert_eq(toolbox->n_tools, 1);
	cr_assert_eq(found.n_items, 4);
	cr_expect_not_null(
		strstr(found.items[0].text, "the tool 'a': /argument_schema/properties/a/minimum "
					    "is left out of its schema: "),
		"%s", found.items[0].text);
	cr_expect_str_eq(
		found.items[3].text, "the tool 'a': 2 further mistakes are left out of its schema");
	cr_assert_eq(take("", "{'list':[{'name':'a','inputSchema':{'type':'object','properties':{"
			      "'a':{'minimum':'x'},'b':{'minimum':'x'},'c':{'minimum':'x'},"
			      "'d':{'minimum':'x'}}}}]}"),
		0);
	cr_assert_eq(found.n_items, 4);
	cr_expect_str_eq(
		found.items[3].text, "the tool 'a': 1 further mistake is left out of its schema");
}

Test(manifest_listed, has_another_digest_for_another_list)
{
	uint64_t first;

	cr_assert_eq(take("", "{'list':[" TOOL_NAMED("a") "]}"), 0);
	first = package->mcp.list;
	cr_assert_eq(take(",'exclude':['x']", "{'list':[" TOOL_NAMED("a") "]}"), 0);
	cr_expect_eq(package->mcp.list, first, "what the operator chooses is not of the list");
	cr_assert_eq(take("", "{'list':[" TOOL_NAMED("b") "]}"), 0);
	cr_expect_neq(package->mcp.list, first);
}

Test(manifest_listed, has_no_more_tools_than_it_may)
{
	manifest_reader_limit_tools(reader, 2);
	cr_assert_eq(take("", "{'list':[" TOOL_NAMED("a") "," TOOL_NAMED("b") "," TOOL_NAMED(
				      "c") "," TOOL_NAMED("d") "]}"),
		0);
	cr_expect_eq(toolbox->n_tools, 2);
	cr_expect_geq(package->left_out.n_items, 1);
}
