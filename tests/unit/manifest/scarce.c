/* SPDX-License-Identifier: Apache-2.0 */
#include "scarce.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/listed.h"
#include "manifest_fixture.h"
#include "quotes.h"

/* Reading manifests when memory is short once, at each allocation in turn. */

TestSuite(manifest_scarce, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 300);

static void expect_all_or_a_shortage(const char *text)
{
	cleanup_free char *load = NULL;
	enum tool_risk risk;
	size_t n_tools;
	size_t n = 0;

	read_good(text);
	load = strndup(package->load ? package->load : "", package->load_size);
	n_tools = toolbox->n_tools;
	risk = toolbox->tools[n_tools - 1].risk;
	for (; scarce_once_after(n); n++) {
		int r = manifest_read_again("box.json");
		bool has_failed = scarce_has_failed();

		if (has_failed && r == -ENOMEM)
			continue;
		cr_assert_eq(r, 0, "%s: %d at %zu", text, r, n);
		cr_expect_eq(problems.n_items, 0, "%s: %s at %zu", text,
			problems.n_items > 0 ? problems.items[0].text : "", n);
		cr_assert_eq(toolbox->n_tools, n_tools);
		cr_expect_eq(toolbox->tools[n_tools - 1].risk, risk, "%s at %zu", text, n);
		cr_expect_str_eq(package->load ? package->load : "", load);
	}
	cr_expect_gt(n, 20);
}

Test(manifest_scarce, reads_all_of_a_native_toolbox_or_reports_that_memory_is_short)
{
	expect_all_or_a_shortage(TOOL(SQRT ",'description':'d','triggers':['root of .*'],"
					   "'examples':[{'args':{'x':4}}]"));
}

Test(manifest_scarce, reads_all_of_native_steps_or_reports_that_memory_is_short)
{
	expect_all_or_a_shortage(
		"{'kind':'native','library':'libm.so.6','enums':{'level':{'low':0}},'structs':{"
		"'leaf':{'fields':[{'name':'n','type':'i32'},{'name':'s','type':'str','nullable':"
		"true}]}},'tools':[{'name':'f','native':{'parameters':[{'name':'p','type':'i32'}],"
		"'steps':[{'call':'open','args':['$p'],'returns':{'name':'h','type':'handle'},"
		"'finally':{'call':'close','args':['$h']}},"
		"{'read':'$h','struct':'leaf','name':'leaf'},"
		"{'call':'g','args':[{'out':{'name':'l','type':'enum','enum':'level'}}]},"
		"{'repeat':{'call':'next','args':['$h'],'returns':{'name':'n','type':'i32'},'while'"
		":"
		"{'equals':1}},'collect':{'name':'all','of':{'n':'$n'}}}],"
		"'result':{'n':'$leaf.n','l':['$l'],'all':'$all'}}}]}");
}

Test(manifest_scarce, reads_all_of_a_command_toolbox_or_reports_that_memory_is_short)
{
	expect_all_or_a_shortage(
		"{'kind':'command','tools':[{'name':'f','argument_schema':{'properties':{'a':{}}},"
		"'command':{'argv':['printf','{a}'],'cwd':'.','env':{'A':'1'}}}]}");
}

Test(manifest_scarce, reads_all_of_a_bus_toolbox_or_reports_that_memory_is_short)
{
	expect_all_or_a_shortage(
		"{'kind':'bus','destination':'d','tools':[{'name':'f','argument_schema':"
		"{'properties':{'a':{'type':'number'}},'required':['a']},'bus':{'topic':'x.y',"
		"'data':{'a':{'arg':'a','scale':0.1}},'result':{'p':{'at':'/x~1y'}},"
		"'collect':{'topics':['c'],'at':'/d'},'error':'/e'}},"
		"{'name':'g','bus':{'topic':'z','reply':false}},"
		"{'name':'h','bus':{'topic':'system.reboot','reply':false}}]}");
}

Test(manifest_scarce, reads_all_that_is_said_of_a_tool_or_reports_that_memory_is_short)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	expect_all_or_a_shortage(
		"{'kind':'command','env':{'B':'2'},'cwd':'.','tools':[{'name':'f','run_llm':true,"
		"'argument_schema':{'type':'object','properties':{'a':{'type':'string','default':"
		"'x'}},'allOf':[{}]},'triggers':['say (?<a>.+)'],'spoken':{'en':{'done':'{a}'}},"
		"'examples':[{'args':{'a':'b'}}],'command':{'argv':['printf',"
		"'{a}'],'env':{'A':'1'}}},"
		"{'name':'g','argument_schema':{'type':'object','properties':{'run_llm':{}}},"
		"'command':{'shell':'true'}}]}");
	cr_expect(strstr(package->load, "XDG_RUNTIME_DIR"));
}

Test(manifest_scarce, reads_all_of_an_array_file_or_reports_that_memory_is_short)
{
	expect_all_or_a_shortage("[{'name':'f','command':'true'},{'name':'g','command':'false'}]");
}

/* ── descriptions ────────────────────────────────────────────────────────────────────────────── */

static struct manifest_reader *reader;
static struct member_toolboxes members;

static int take_members(const struct json_tape *tape)
{
	return manifest_take_members(reader, tape, package, &members, &problems);
}

static int take_tools(const struct json_tape *tape)
{
	return manifest_take_tools(reader, tape, json_find(tape, 0, "tools"), package, &problems);
}

static int take_listed(const struct json_tape *tape)
{
	return manifest_take_listed(reader, tape, NULL, package, &problems);
}

/* Take @described as the description of @manifest, once for each failing allocation. */
static void expect_all_described(
	const char *manifest, int (*take)(const struct json_tape *tape), const char *described)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *json = quoted(described);
	cleanup_free char *load = NULL;
	size_t n = 0;
	int r;

	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	reader = manifest_reader_new(NULL);
	read_good(manifest);
	cr_assert_eq(take(&tape), 0, "%s", problems.n_items > 0 ? problems.items[0].text : "");
	load = strndup(package->load, package->load_size);
	do {
		member_toolboxes_deinit(&members);
		read_good(manifest);
		if (!scarce_once_after(n++))
			break;
		r = take(&tape);
		if (scarce_has_failed() && r == -ENOMEM)
			continue;
		cr_assert_eq(r, 0, "%zu: %d", n, r);
		cr_expect_str_eq(package->load, load, "%zu: %s", n, package->load);
		cr_expect_eq(problems.n_items, 0, "%zu", n);
	} while (n < 10000);
	cr_expect_gt(n, 20);
	member_toolboxes_deinit(&members);
	manifest_reader_free(reader);
}

Test(manifest_scarce, takes_the_tools_of_a_plugin_or_reports_that_memory_is_short)
{
	expect_all_described("{'kind':'plugin','library':'./lib.so'}", take_tools,
		"{'tools':[{'name':'a','argument_schema':{'type':'object','properties':{'x':"
		"{'type':'integer','default':3}}}},{'name':'b'}],'validating':[1]}");
}

Test(manifest_scarce, takes_the_tools_of_an_interpreter_or_reports_that_memory_is_short)
{
	expect_all_described("{'kind':'python'}", take_members,
		"{'toolboxes':[{'toolbox_id':'a','entry_point':'e','tools':[{'name':'f'},{'name':"
		"'g','output_schema':{'type':'array'}}]}],'failed':[]}");
}

Test(manifest_scarce, takes_the_tools_of_a_server_or_reports_that_memory_is_short)
{
	expect_all_described("{'kind':'mcp','mcp':{'command':['x']},'include':['*']}", take_listed,
		"{'list':[{'name':'a','title':'A','inputSchema':{'type':'object','properties':{"
		"'x':{'type':'string'}}},'outputSchema':{'type':'object'},'annotations':{"
		"'readOnlyHint':true}}]}");
}
