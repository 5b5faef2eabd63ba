/* SPDX-License-Identifier: Apache-2.0 */
#include "scarce.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "manifest_fixture.h"

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
