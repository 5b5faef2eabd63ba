/* SPDX-License-Identifier: Apache-2.0 */
#include "core/status/status.h"

#include <criterion/criterion.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "quotes.h"
#include "util/cleanup.h"

/* The toolboxes and calls in the view of a caller. Callers whose source is `kid` see `root` alone,
 * those whose source is `guard` see `hang` and `no_text`. */

#define BAD                                                                                        \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so','risk':'read',"    \
	"'tools':[{'name':'hang','native':{'symbol':'hang'}},"                                     \
	"{'name':'no_text','native':{'symbol':'no_text','returns':{'type':'str'}}},"               \
	"{'name':'print','native':{'symbol':'print','parameters':[{'name':'fd','type':'i32'},"     \
	"{'name':'bytes','type':'u64'}]}}]}"
#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','risk':'read','tools':[{'name':'root','native':{"  \
	"'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}"

static void set_up(void)
{
	asking_set_up();
	write_box("bad.json", BAD);
	write_box("libm.json", LIBM);
	write_user_file("{\"toolboxd\":{\"profiles\":{\"kids\":{\"tool_names\":[\"root\"]},"
			"\"guards\":{\"tool_names\":[\"hang\",\"no_text\"]}},"
			"\"access\":[{\"match\":{\"source\":\"kid\"},\"profile\":\"kids\"},"
			"{\"match\":{\"source\":\"guard\"},\"profile\":\"guards\"}]}}");
	asking_start();
	ask_for("ovos.tools.list", "{}");
}

TestSuite(status, .init = set_up, .fini = asking_tear_down, .timeout = 300);

static const char *ask_as(const char *source, const char *topic, const char *data)
{
	char context[64];
	char response[64];

	snprintf(context, sizeof(context), "{'source':'%s'}", source);
	snprintf(response, sizeof(response), "%s.response", topic);
	send_request(topic, data, context);
	return wait_for(response);
}

/* Whether @text lacks the JSON @part. */
static void expect_absent(const char *text, const char *part)
{
	cleanup_free char *json = quoted(part);

	cr_expect_null(strstr(text, json), "%s\nis in %s", json, text);
}

Test(status, counts_the_calls_that_its_caller_sees)
{
	const char *status;

	ask_for("ovos.tools.invoke", "{'name':'print','args':{'fd':1,'bytes':1}}");
	send_request("ovos.tools.invoke", "{'name':'hang'}", "{}");
	send_request("ovos.tools.invoke", "{'name':'hang'}", "{}");
	status = ask_for("ovos.tools.status", "{}");
	expect_part(status, "'calls':{'in_flight':2,'held_bytes':");
	expect_part(status, ",'checking':0}");
	expect_part(status, "'running':1,'queue':1,");
	expect_part(status, "'running':0,'queue':0,");
	status = ask_as("guard", "ovos.tools.status", "{}");
	expect_part(status, "'calls':{'in_flight':2,'held_bytes':");
	expect_absent(status, "'held_bytes':0");
	expect_absent(status, "checking");
	expect_part(status, "'tools':2,'hosts':1,'calls':0,'errors':0,'running':1,'queue':1,");
	expect_absent(status, "libm");
	status = ask_as("kid", "ovos.tools.status", "{}");
	expect_part(status, "'calls':{'in_flight':0,'held_bytes':0}");
	expect_part(status, "'toolbox_id':'libm'");
	expect_part(status, "'running':0,'queue':0,");
	expect_absent(status, "bad");
}

Test(status, has_the_tools_of_one_toolbox)
{
	const char *status;

	ask_for("ovos.tools.invoke", "{'name':'no_text'}");
	status = ask_for("ovos.tools.status", "{'toolbox_id':'bad'}");
	expect_part(status, "},{'name':'no_text','calls':1,'errors':1,'p50_ms':");
	expect_part(status,
		"'last_failure':{'code':'tool_failed','why':'no_text returned NULL','time':'");
	expect_part(status, "},{'name':'print','calls':0,'errors':0,'p50_ms':null,'p99_ms':null,"
			    "'last_failure':null}]");
	expect_part(status, "'output':[]");
	status = ask_as("guard", "ovos.tools.status", "{'toolbox_id':'bad'}");
	expect_part(status, "'last_failure':{'code':'tool_failed','why':null,'time':'");
	expect_absent(status, "'output':");
	expect_absent(status, "print");
	expect_part(ask_as("kid", "ovos.tools.status", "{'toolbox_id':'bad'}"),
		"'toolboxes':[],'failed':[],'not_offered':[]");
}

Test(status, has_the_last_lines_of_one_toolbox)
{
	const char *status;

	ask_for("ovos.tools.invoke", "{'name':'print','args':{'fd':1,'bytes':20}}");
	status = ask_for("ovos.tools.status", "{'toolbox_id':'bad'}");
	expect_part(status, "'output':[{'line':'");
	expect_part(status, "','time':'");
	expect_absent(ask_for("ovos.tools.status", "{}"), "'output':");
}

Test(status, names_a_version_that_is_served_though_its_files_are_wrong)
{
	const char *status;

	write_box("libm.json", "{");
	ask_for("ovos.tools.reload", "{}");
	status = ask_for("ovos.tools.status", "{}");
	expect_part(status, ",'last_good':{'loaded':'");
	expect_part(status, "','failed':'");
	expect_part(status, "'state':'idle','why':'");
	expect_part(status, "'failed':[{'toolbox_id':'libm'");
	status = ask_as("kid", "ovos.tools.status", "{}");
	expect_absent(status, "last_good");
	expect_part(status, "'failed':[],'not_offered':[]");
}

/* ── the history ─────────────────────────────────────────────────────────────────────────────── */

Test(status, shows_in_its_history_the_calls_that_a_caller_may_see)
{
	const char *calls;

	ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}");
	ask_for("ovos.tools.invoke", "{'name':'print','args':{'fd':1,'bytes':1}}");
	ask_as("kid", "ovos.tools.invoke", "{'name':'print','args':{'fd':1,'bytes':1}}");
	ask_as("guard", "ovos.tools.invoke", "{'name':'no\\\\ne'}");
	calls = ask_for("ovos.tools.calls", "{}");
	expect_part(calls, "'name':'root'");
	expect_part(calls, "'name':'no\\\\ne'");
	calls = ask_as("kid", "ovos.tools.calls", "{}");
	expect_part(calls, "'name':'root'");
	expect_part(calls, "'code':'unknown_tool'");
	expect_absent(calls, "guard");
	expect_absent(calls, "bad");
	calls = ask_as("guard", "ovos.tools.calls", "{}");
	expect_part(calls, "'name':'no\\\\ne'");
	expect_absent(calls, "root");
	expect_absent(calls, "print");
}

Test(status, shows_so_many_calls)
{
	const char *calls;

	for (int i = 0; i < 3; i++)
		ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':4}}");
	send_request("ovos.tools.invoke", "{'name':'hang'}", "{}");
	calls = ask_for("ovos.tools.calls", "{'limit':2}");
	expect_part(calls, "{'calls':[{");
	expect_part(calls, "'name':'hang'");
	expect_part(calls, "'name':'root'");
	calls = strstr(calls, "root") + 1;
	expect_absent(calls, "root");
	expect_absent(ask_for("ovos.tools.calls", "{'limit':1}"), "root");
	expect_absent(ask_for("ovos.tools.calls", "{'state':'completed'}"), "hang");
	expect_absent(ask_for("ovos.tools.calls", "{'state':'running'}"), "root");
	expect_part(ask_for("ovos.tools.calls", "{'toolbox_id':'none'}"), "{'calls':[]}");
}
