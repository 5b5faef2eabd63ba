/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "answering.h"

static void set_up(void)
{
	setenv("TZ", "UTC", 1);
}

TestSuite(ctl_status, .init = set_up, .fini = answering_stop, .timeout = 60);

#define STATUS "ovos.tools.status"

/* ── of the service ──────────────────────────────────────────────────────────────────────────── */

#define SERVICE "'version':'1.2','bus':'ws://x/core','generation':4,'uptime_s':11520.7,"

Test(ctl_status, has_a_row_for_each_toolbox_and_sums)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{" SERVICE "'toolboxes':["
			"{'toolbox_id':'math','state':'ready','tools':2,'running':1,'queue':0,"
			"'calls':12,'errors':1,'p50_ms':0.5,'p99_ms':250.4,'why':null},"
			"{'toolbox_id':'crashy','state':'quarantined','tools':1,'running':0,"
			"'queue':0,'calls':0,'errors':0,'why':'it crashed'},"
			"{'toolbox_id':'off','state':'disabled','tools':0,'running':0,'queue':0,"
			"'calls':0,'errors':0}],'failed':[{'toolbox_id':'bad','error':'no "
			"library'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status", CTL_DONE,
		"3 tools of 2 toolboxes, 1 failed, 1 quarantined, 1 disabled\n"
		"toolboxd 1.2 on ws://x/core, up 3 h 12 min, generation 4\n"
		"\n"
		"TOOLBOX  STATE        TOOLS  RUNNING  CALLS  FAILED     P50     P99  WHY\n"
		"math     ready            2        1     12       1  0.5 ms  250 ms\n"
		"crashy   quarantined      1        0      0       0       -       -  it crashed\n"
		"off      disabled         0        0      0       0       -       -\n"
		"\n"
		"FAILED  ERROR\n"
		"bad     no library\n",
		"");
	cr_expect_str_eq(answering_requests(), STATUS " {}\n");
}

Test(ctl_status, shows_calls_that_wait_and_entry_points_only_where_there_are_any)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{" SERVICE "'toolboxes':["
			"{'toolbox_id':'a','state':'ready','tools':1,'running':0,'queue':3,'calls':"
			"0,"
			"'errors':0,'entry_point':'acme-clock'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status", CTL_DONE,
		"1 tool of 1 toolbox\n"
		"toolboxd 1.2 on ws://x/core, up 3 h 12 min, generation 4\n"
		"\n"
		"TOOLBOX  STATE  TOOLS  RUNNING  WAITING  CALLS  FAILED  P50  P99  ENTRY POINT  "
		"WHY\n"
		"a        ready      1        0        3      0       0    -    -  acme-clock\n",
		"");
}

Test(ctl_status, writes_the_time_that_the_service_is_up_in_its_two_largest_units)
{
	static const struct {
		const char *seconds;
		const char *expected;
	} cases[] = {
		{"0", "up 0 s,"},
		{"59.9", "up 59 s,"},
		{"60", "up 1 min,"},
		{"3599", "up 59 min,"},
		{"3600", "up 1 h 0 min,"},
		{"86399", "up 23 h 59 min,"},
		{"86400", "up 1 d 0 h 0 min,"},
		{"90061", "up 1 d 1 h 1 min,"},
		{"-5", "up 0 s,"},
		{"1e300", "up 0 s,"},
		{"'long'", "up 0 s,"},
		{"null", "up 0 s,"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct prepared messages[COUNT + 1] = {0};
	static char data[COUNT][128];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(data[i], sizeof(data[i]), "{'toolboxes':[],'uptime_s':%s}",
			cases[i].seconds);
		messages[i] = (struct prepared){STATUS, data[i], NULL};
	}
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(command_run(ctl_status, "status"), CTL_DONE);
		expect_output(cases[i].expected);
	}
}

Test(ctl_status, complains_of_mistakes_a_lost_audit_a_bad_key_and_other_services)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{" SERVICE "'toolboxes':[],"
			"'configuration':[{'file':'/m.conf','line':2,'path':'/x','error':'is "
			"unknown'}],"
			"'audit':{'file':'/a.log','lost':3,'error':'no space'},"
			"'approval':{'why':'is not readable'},"
			"'other_services':[{'service':'ovos-tools','pid':7,'host':'pi'},"
			"{'service':'old'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status", CTL_DONE,
		"0 tools of 0 toolboxes\n"
		"toolboxd 1.2 on ws://x/core, up 3 h 12 min, generation 4\n",
		"/m.conf:2 /x: is unknown\n"
		"the audit log /a.log lacks 3 lines: no space\n"
		"no one can approve calls: approval.key_file is not readable\n"
		"another tool service answers on this bus: ovos-tools, process 7 of pi; stop one "
		"of them\n"
		"another tool service answers on this bus: old; stop one of them\n");
}

Test(ctl_status, complains_of_an_audit_log_that_lacks_lines_or_has_an_error_only)
{
	static const struct {
		const char *audit;
		const char *complaint;
	} cases[] = {
		{"{'file':'/a','lost':0,'error':null}", ""},
		{"{'file':'/a','lost':0}", ""},
		{"{}", ""},
		{"null", ""},
		{"{'file':'/a','lost':2}", "the audit log /a lacks 2 lines\n"},
		{"{'file':'/a','lost':0,'error':'full'}", "the audit log /a lacks 0 lines: full\n"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct prepared messages[COUNT + 1] = {0};
	static char data[COUNT][128];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(data[i], sizeof(data[i]), "{'toolboxes':[],'audit':%s}", cases[i].audit);
		messages[i] = (struct prepared){STATUS, data[i], NULL};
	}
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++)
		expect_command(ctl_status, "status", CTL_DONE,
			"0 tools of 0 toolboxes\ntoolboxd  on , up 0 s, generation \n",
			cases[i].complaint);
}

/* ── of a toolbox ────────────────────────────────────────────────────────────────────────────── */

Test(ctl_status, describes_one_toolbox_with_its_tools_and_its_output)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{'toolboxes':[{'toolbox_id':'crashy','state':'quarantined',"
			"'since':'2020-03-01T10:02:28.5Z','why':'it crashed 5 "
			"times','file':'/t/c.json',"
			"'kind':'python','entry_point':'acme','sandbox':'command','hosts':2,"
			"'running':1,'queue':3}],'failed':[],"
			"'tools':[{'name':'crash','calls':5,'errors':5,'p50_ms':1.5,'p99_ms':120,"
			"'last_failure':{'time':'2020-03-01T10:02:27Z','code':'host_crashed',"
			"'why':'its host died (SIGABRT)'}},{'name':'fine','calls':0,'errors':0}],"
			"'not_offered':[],"
			"'output':[{'time':'2020-03-01T10:02:26Z','line':'about to\\tcrash'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status crashy", CTL_DONE,
		"crashy  quarantined since 2020-03-01 10:02\n"
		"  why      it crashed 5 times\n"
		"  try      toolboxctl reload\n"
		"  file     /t/c.json\n"
		"  kind     python, entry point acme, sandbox command\n"
		"  now      2 processes, 1 running, 3 waiting\n"
		"\n"
		"TOOL   CALLS  FAILED     P50     P99  LAST FAILURE\n"
		"crash      5       5  1.5 ms  120 ms  2020-03-01 10:02 host_crashed: its host "
		"died "
		"(SIGABRT)\n"
		"fine       0       0       -       -\n"
		"\n"
		"TIME              OUTPUT\n"
		"2020-03-01 10:02  about to crash\n",
		"");
	cr_expect_str_eq(answering_requests(), STATUS " {'toolbox_id':'crashy'}\n");
}

Test(ctl_status, names_the_version_that_serves_and_what_mends_the_new_one)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{'toolboxes':[{'toolbox_id':'a','state':'ready','why':'not shown twice',"
			"'file':'/t/a.json','kind':'native','sandbox':'off','hosts':1,"
			"'last_good':{'loaded':'2020-03-01T09:58:00Z','failed':'2020-03-01T10:12:"
			"00Z',"
			"'error':'libbad.so has no function \\'slow\\''}}],"
			"'failed':[{'toolbox_id':'a','error':'not shown "
			"twice','file':'/t/a.json'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status a", CTL_DONE,
		"a  ready\n"
		"  serving  the version of 2020-03-01 09:58; the version of 2020-03-01 10:12 "
		"failed: "
		"libbad.so has no function \"slow\"\n"
		"  try      mend it: toolboxctl check /t/a.json\n"
		"  file     /t/a.json\n"
		"  kind     native, sandbox off\n"
		"  now      1 process, 0 running, 0 waiting\n",
		"");
}

Test(ctl_status, advises_a_person_whose_toolbox_is_disabled)
{
	static const struct prepared messages[] = {
		{STATUS, "{'toolboxes':[{'toolbox_id':'a','state':'disabled'}]}", NULL}, {0}};

	answering_start(messages);
	cr_expect_eq(command_run(ctl_status, "status a"), CTL_DONE);
	expect_output("  try      toolboxctl enable 'a/*', or change what leaves it out in "
		      "mycroft.conf\n");
}

Test(ctl_status, shows_why_a_toolbox_has_failed)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{'toolboxes':[],'failed':[{'toolbox_id':'bad','error':'no library',"
			"'file':'/t/bad.json'}],'not_offered':["
			"{'toolbox_id':'bad','name':'x','why':'disabled'},"
			"{'toolbox_id':'bad','name':'y','why':'disabled'},"
			"{'toolbox_id':'bad','name':'z','why':'the profile'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status bad", CTL_DONE,
		"bad  failed\n"
		"  failed   no library\n"
		"  try      toolboxctl check /t/bad.json, which names every mistake with its line\n"
		"\n"
		"NOT OFFERED  WHY\n"
		"bad          disabled: x, y\n"
		"bad/z        the profile\n",
		"");
}

Test(ctl_status, shows_why_the_tools_of_a_toolbox_are_not_offered)
{
	static const struct prepared messages[] = {
		{STATUS,
			"{'toolboxes':[],'failed':[],'not_offered':["
			"{'toolbox_id':'off','why':'its folder is empty'},"
			"{'toolbox_id':'off','why':'its folder is empty'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status off", CTL_DONE,
		"off  not offered\n"
		"\n"
		"NOT OFFERED  WHY\n"
		"off          its folder is empty\n"
		"off          its folder is empty\n",
		"");
}

/* ── of none ─────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_status, guesses_the_toolbox_that_was_meant)
{
	static const char nothing[] = "{'toolboxes':[],'failed':[],'not_offered':[]}";
	static const char all[] =
		"{'toolboxes':[{'toolbox_id':'math_tools'},{'toolbox_id':'clock'}],"
		"'failed':[{'toolbox_id':'weather'}],'not_offered':[{'toolbox_id':'shell'},{},7]}";
	static const struct {
		const char *line;
		const char *complaint;
	} cases[] = {
		{"status math_tool", "no toolbox is called 'math_tool'; is it 'math_tools'?\n"},
		{"status wheather", "no toolbox is called 'wheather'; is it 'weather'?\n"},
		{"status shel", "no toolbox is called 'shel'; is it 'shell'?\n"},
		{"status xyz", "no toolbox is called 'xyz'; see toolboxctl status\n"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct prepared messages[2 * COUNT + 1] = {0};

	for (size_t i = 0; i < COUNT; i++) {
		messages[2 * i] = (struct prepared){STATUS, nothing, NULL};
		messages[2 * i + 1] = (struct prepared){STATUS, all, NULL};
	}
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++)
		expect_command(ctl_status, cases[i].line, CTL_ERROR, "", cases[i].complaint);
}

Test(ctl_status, is_done_with_a_toolbox_that_came_meanwhile)
{
	static const struct prepared messages[] = {
		{STATUS, "{'toolboxes':[]}", NULL},
		{STATUS, "{'toolboxes':[{'toolbox_id':'new'}]}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status new", CTL_DONE, "", "");
}

Test(ctl_status, does_not_guess_among_toolboxes_that_are_not_shown)
{
	static const struct prepared messages[] = {
		{STATUS, "{'toolboxes':[]}", NULL},
		{STATUS, "{'error':'not for you','code':'forbidden'}", NULL},
		{STATUS, "{'toolboxes':[]}", NULL},
		{STATUS, "{'error':'busy','code':'busy'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status new", CTL_ERROR, "",
		"no toolbox is called 'new'; see toolboxctl list\n");
	expect_command(ctl_status, "status new", CTL_ERROR, "", "busy\n");
}

Test(ctl_status, is_printed_as_it_came_with_json)
{
	static const struct prepared messages[] = {
		{STATUS, "{'toolboxes':[],'audit':{'lost':1}}", NULL},
		{STATUS, "{'error':'no','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_status, "status --json", CTL_DONE,
		"{\"toolboxes\":[],\"audit\":{\"lost\":1}}\n", "");
	expect_command(ctl_status, "status --json", CTL_ERROR,
		"{\"error\":\"no\",\"code\":\"forbidden\"}\n", "");
	expect_command(ctl_status, "status", CTL_ERROR, "", "no\n");
}

/* A service of others may send anything. The sanitizers watch. */
Test(ctl_status, stands_members_that_are_missing_or_of_another_type)
{
	static const struct prepared messages[] = {
		{STATUS, "{}", NULL},
		{STATUS, "{}", NULL},
		{STATUS,
			"{'toolboxes':[1,null,[],['state'],{}],'failed':[1,['error']],"
			"'not_offered':[1,['name'],{'name':1},{'name':1}],'configuration':[[]],"
			"'audit':[],'approval':7,'other_services':[0]}",
			NULL},
		{STATUS,
			"{'toolboxes':[{'state':4,'since':1,'last_good':{},'tools':'many'}],"
			"'tools':[1,{},{'last_failure':{}},{'last_failure':3}],"
			"'output':[1,{},{'time':5,'line':[]},['time']]}",
			NULL},
		{STATUS, "{'toolboxes':['state']}", NULL},
		{0},
	};
	static const char *const lines[] = {
		"status", "status", "status --timeout 9", "status a", "status a"};

	answering_start(messages);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		cr_expect_eq(command_run(ctl_status, lines[i]), CTL_DONE, "%zu: %s", i,
			command_complaints);
}
