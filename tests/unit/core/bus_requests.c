/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Requests on the bus and their responses, topic by topic. */

#define BOX                                                                                        \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so','risk':'read',"    \
	"'tools':[{'name':'hang','native':{'symbol':'hang'}},"                                     \
	"{'name':'behave','description':'Returns it.','triggers':['behave .*'],'native':{"         \
	"'symbol':'behave','parameters':[{'name':'value','type':'i32','default':7}],"              \
	"'returns':{'type':'i32'}}}]}"
#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','tools':[{'name':'root','risk':'write',"           \
	"'cooldown_s':60,'native':{'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"      \
	"'returns':{'type':'f64'}}}]}"

static void set_up(void)
{
	asking_set_up();
	write_box("box.json", BOX);
	write_box("libm.json", LIBM);
}

TestSuite(bus_requests, .init = set_up, .fini = asking_tear_down, .timeout = 300);

/* Send @data with @topic, and expect @part in the response. */
static void expect_response(const char *topic, const char *data, const char *part)
{
	const char *response = ask_for(topic, data);
	cleanup_free char *json = quoted(part);

	cr_expect(strstr(response, json), "%s %s: %s\nis not in %s", topic, data, json, response);
}

struct exchanged {
	const char *data;
	const char *part;
};

static void expect_responses(const char *topic, const struct exchanged *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_response(topic, rows[i].data, rows[i].part);
}

#define EXPECT_RESPONSES(topic, rows) expect_responses(topic, rows, sizeof(rows) / sizeof(*(rows)))

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

Test(bus_requests, list_tools)
{
	static const struct exchanged rows[] = {
		{"{}", "'name':'behave','description':'Returns it.'"},
		{"{'toolbox_id':'libm'}", "{'tools':[{'name':'root'"},
		{"{'toolbox_id':'none'}", "'tools':[]"},
		{"{'format':'compact','toolbox_id':'libm'}", "{'name':'root','description':''"},
		{"{'format':'markdown','toolbox_id':'libm'}", "'text':'"},
		{"{'format':'yaml'}", "'code':'bad_request'"},
		{"{'format':5}", "'code':'bad_request'"},
		{"{'toolbox_id':5}", "'error':"},
		{"{'profile':'none'}", "'tools':[]"},
	};

	asking_start();
	EXPECT_RESPONSES("ovos.tools.list", rows);
}

Test(bus_requests, describe_a_tool)
{
	static const struct exchanged rows[] = {
		{"{'name':'behave'}", "'name':'behave','description':'Returns it.'"},
		{"{'name':'behave','toolbox_id':'box'}", "'toolbox_id':'box'"},
		{"{'name':'behave','deadline':true}", "'timeout_ms':"},
		{"{'name':'behav'}", "'suggestions':['behave']"},
		{"{'name':'behave','toolbox_id':'libm'}", "'code':'unknown_tool'"},
		{"{}", "'code':'missing_name'"},
		{"{'name':''}", "'error':"},
		{"{'name':5}", "'error':"},
		{"{'name':null}", "'code':'missing_name'"},
	};

	asking_start();
	EXPECT_RESPONSES("ovos.tools.get", rows);
}

Test(bus_requests, judge_arguments)
{
	static const struct exchanged rows[] = {
		{"{'name':'behave','args':{'value':3}}", "'valid':true"},
		{"{'name':'behave','args':{}}", "'valid':true"},
		{"{'name':'behave'}", "'valid':true"},
		{"{'name':'behave','args':{'value':'x'}}", "'valid':false"},
		{"{'name':'behave','args':{'other':1}}", "'violations':["},
		{"{'name':'behave','args':5}", "'valid':false"},
		{"{'name':'none','args':{}}", "'code':'unknown_tool'"},
	};

	asking_start();
	EXPECT_RESPONSES("ovos.tools.validate", rows);
}

Test(bus_requests, find_what_an_utterance_means)
{
	static const struct exchanged rows[] = {
		{"{'utterance':'behave yourself'}", "'name':'behave'"},
		{"{'utterance':'BEHAVE yourself'}", "'name':'behave'"},
		{"{'utterance':'nothing'}", "'name':null"},
		{"{'utterance':''}", "'name':null"},
		{"{}", "'error':"},
		{"{'utterance':5}", "'error':"},
	};

	asking_start();
	EXPECT_RESPONSES("ovos.tools.match", rows);
}

Test(bus_requests, call_a_tool)
{
	static const struct exchanged rows[] = {
		{"{'name':'behave','args':{'value':3}}", "'result':"},
		{"{'name':'behave','call_id':'mine'}", "'call_id':'mine'"},
		{"{'name':'behave','args':{'value':2147483648}}", "'code':'invalid_arguments'"},
		{"{'name':'behave','args':[]}", "'error':"},
		{"{'name':'hang','timeout_ms':50}", "'code':'timeout'"},
		{"{'name':'behave','timeout_ms':'x'}", "'error':"},
		{"{'name':'behave','timeout_ms':0}", "'error':"},
		{"{'name':'root','args':{'x':4}}", "'result':"},
		{"{'name':'root','args':{'x':4}}", "'code':'cooldown'"},
	};

	asking_start();
	EXPECT_RESPONSES("ovos.tools.invoke", rows);
}

/* ── calls ───────────────────────────────────────────────────────────────────────────────────── */

Test(bus_requests, list_the_calls_that_are_asked_for)
{
	static const struct exchanged rows[] = {
		{"{'state':'failed'}", "'code':'invalid_arguments'"},
		{"{'state':'done'}", "'name':'behave'"},
		{"{'state':'running'}", "'calls':[]"},
		{"{'name':'behave'}", "'call_id':'one'"},
		{"{'name':'other'}", "'calls':[]"},
		{"{'toolbox_id':'libm'}", "'calls':[]"},
		{"{'toolbox_id':'box'}", "'call_id':'two'"},
		{"{'source':'kitchen'}", "'call_id':'two'"},
		{"{'source':'bath'}", "'calls':[]"},
		{"{'since_s':0}", "'calls':["},
		{"{'limit':1}", "'call_id':'two'"},
		{"{'limit':0}", "'error':"},
		{"{'limit':1001}", "'error':"},
		{"{'limit':'1'}", "'error':"},
		{"{'since_s':-1}", "'error':"},
		{"{'since_s':'x'}", "'error':"},
		{"{'state':'odd'}", "'error':"},
		{"{'state':5}", "'error':"},
		{"{'source':5}", "'error':"},
	};

	asking_start();
	ask_for("ovos.tools.invoke", "{'name':'behave','call_id':'one','args':{'value':1}}");
	send_request("ovos.tools.invoke", "{'name':'behave','call_id':'two','args':{'value':'x'}}",
		"{'source':'kitchen'}");
	wait_for("ovos.tools.invoke.response");
	EXPECT_RESPONSES("ovos.tools.calls", rows);
}

Test(bus_requests, cancel_a_call_by_its_id_or_its_call_id)
{
	char data[128];
	const char *id;

	asking_start();
	send_request("ovos.tools.invoke", "{'name':'hang','call_id':'mine'}", "{'source':'me'}");
	do
		id = strstr(ask_for("ovos.tools.calls", "{'state':'running'}"), "\"id\":\"");
	while (!id);
	snprintf(data, sizeof(data), "{'id':'%.*s'}", (int)strcspn(id + 6, "\""), id + 6);
	expect_response("ovos.tools.cancel", "{'id':'none'}", "'cancelled':false");
	expect_response("ovos.tools.cancel", "{'id':5}", "'error':");
	expect_response("ovos.tools.cancel", "{}", "'error':");
	expect_response("ovos.tools.cancel", "{'call_id':'mine'}", "'cancelled':false");
	expect_response("ovos.tools.cancel", data, "'cancelled':true");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	expect_response("ovos.tools.cancel", data, "'cancelled':false");
}

Test(bus_requests, announce_calls_while_someone_watches)
{
	asking_start();
	ask_for("ovos.tools.invoke", "{'name':'behave','args':{'value':1}}");
	cr_expect_eq(n_unseen("ovos.tools.call.started"), 0);
	expect_response("ovos.tools.watch", "{'seconds':60}", "{");
	ask_for("ovos.tools.invoke", "{'name':'behave','args':{'value':2}}");
	expect_part(wait_for("ovos.tools.call.started"), "'name':'behave'");
	expect_part(wait_for("ovos.tools.call.completed"), "'ok':true");
	ask_for("ovos.tools.invoke", "{'name':'behave','args':{'value':'x'}}");
	expect_part(wait_for("ovos.tools.call.completed"), "'ok':false");
	expect_response("ovos.tools.watch", "{'seconds':-1}", "'error':");
	expect_response("ovos.tools.watch", "{'seconds':'x'}", "'error':");
	expect_response("ovos.tools.watch", "{}", "'error':");
}

Test(bus_requests, put_arguments_and_results_into_events_where_it_is_configured)
{
	static const char configuration[] =
		"{\"toolboxd\":{\"events\":{\"calls\":true,\"arguments\":true,\"results\":true}}}";

	write_user_file(configuration);
	asking_start();
	ask_for("ovos.tools.invoke", "{'name':'behave','args':{'value':2}}");
	expect_part(wait_for("ovos.tools.call.started"), "'args':{'value':2}");
	expect_part(wait_for("ovos.tools.call.completed"), "'result':");
}

/* ── the state ───────────────────────────────────────────────────────────────────────────────── */

Test(bus_requests, report_the_state_and_the_last_failures)
{
	asking_start();
	ask_for("ovos.tools.invoke", "{'name':'hang','timeout_ms':50}");
	expect_response("ovos.tools.status", "{}", "'toolbox_id':'box'");
	expect_response("ovos.tools.status", "{}", "'toolbox_id':'libm'");
	expect_response("ovos.tools.status", "{'toolbox_id':'box'}", "'last_failure':{");
	expect_response("ovos.tools.status", "{'toolbox_id':'box'}", "'code':'timeout'");
	expect_response("ovos.tools.status", "{'toolbox_id':'none'}", "'toolboxes':[]");
	expect_response("ovos.tools.status", "{'toolbox_id':5}", "'error':");
}

Test(bus_requests, load_what_has_changed)
{
	asking_start();
	write_box("more.json",
		"{'kind':'native','library':'libm.so.6','tools':[{'name':'cbrt','risk':'read',"
		"'native':{'symbol':'cbrt','parameters':[{'name':'x','type':'f64'}],"
		"'returns':{'type':'f64'}}}]}");
	write_box("bad.json", "{'kind':'nonsense'}");
	expect_response("ovos.tools.reload", "{}", "'loaded':['box','libm','more']");
	expect_part(wait_for("ovos.tools.changed"), "'added':['more/cbrt']");
	expect_response("ovos.tools.reload", "{}", "'toolbox_id':'bad'");
	expect_response("ovos.tools.invoke", "{'name':'cbrt','args':{'x':27}}", "'result':");
	expect_response("ovos.tools.status", "{'toolbox_id':'bad'}", "'failed':[{");
}
