/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "answering.h"

TestSuite(ctl_watch, .fini = answering_stop, .timeout = 60);

#define WATCH     "ovos.tools.watch"
#define STARTED   "ovos.tools.call.started"
#define PROGRESS  "ovos.tools.call.progress"
#define COMPLETED "ovos.tools.call.completed"
#define CHANGED   "ovos.tools.changed"

/* Events after which --count 1 ends the command: the service sends them before its response. */
#define CALL(id, box, tool, source)                                                                \
	"'id':'" id "','toolbox_id':'" box "','name':'" tool "','source':'" source "'"

/* Expect the lines that are printed, without their times, which have the shape 10:02:28.123. */
static void expect_lines(const char *line, const char *expected)
{
	char bare[4096] = "";
	int r = command_run(ctl_watch, line);

	for (const char *at = command_output; *at;) {
		const char *end = strchr(at, '\n');
		static const char shape[] = "00:00:00.000  ";

		cr_assert_not_null(end);
		for (size_t i = 0; i < strlen(shape); i++)
			cr_assert(
				shape[i] == '0' ? at[i] >= '0' && at[i] <= '9' : at[i] == shape[i],
				"%s", at);
		at += strlen(shape);
		strncat(bare, at, (size_t)(end + 1 - at));
		at = end + 1;
	}
	cr_expect_eq(r, CTL_DONE, "%s", line);
	cr_expect_str_eq(bare, expected, "%s: %s", line, bare);
}

static const struct prepared life[] = {
	{WATCH, "{'total_tools':3,'added':['math/add'],'removed':[],'changed':null}", CHANGED},
	{WATCH, "{" CALL("c1", "math", "add", "me") ",'args':{'a':1}}", STARTED},
	{WATCH, "{" CALL("c1", "math", "add", "me") ",'progress':0.5,'text':'half\\n way'}",
		PROGRESS},
	{WATCH, "{" CALL("c2", "box", "crash", "skill") "}", STARTED},
	{WATCH,
		"{" CALL("c2", "box", "crash", "skill") ",'ok':false,'duration_ms':7,"
							"'error':'its host died'}",
		COMPLETED},
	{WATCH, "{" CALL("c1", "math", "add", "me") ",'ok':true,'duration_ms':1.5,'result':3}",
		COMPLETED},
	{WATCH, "{'until_s':60}", NULL},
	{0},
};

Test(ctl_watch, prints_the_life_of_calls_and_changes_of_tools)
{
	answering_start(life);
	expect_lines("watch --count 2",
		"the tools have changed; there are 3, added [\"math/add\"]\n"
		"c1  math/add for me  started\n"
		"c1  math/add for me  running  [50 %]  half  way\n"
		"c2  box/crash for skill  started\n"
		"c2  box/crash for skill  failed after 7 ms: its host died\n"
		"c1  math/add for me  done after 1.5 ms: 3\n");
	cr_expect_str_eq(answering_requests(), WATCH " {'seconds':60}\n");
}

Test(ctl_watch, ends_after_so_many_calls_as_are_counted)
{
	answering_start(life);
	expect_lines("watch --count 1 --ended",
		"c2  box/crash for skill  failed after 7 ms: its host died\n");
}

Test(ctl_watch, prints_the_events_that_its_flags_mean)
{
	static const struct {
		const char *line;
		const char *expected;
	} cases[] = {
		{"watch --count 1 --failed",
			"c2  box/crash for skill  failed after 7 ms: its host died\n"},
		{"watch --count 1 --tool add --ended",
			"c1  math/add for me  done after 1.5 ms: 3\n"},
		{"watch --count 1 --tool math/add --ended",
			"c1  math/add for me  done after 1.5 ms: 3\n"},
		{"watch --count 1 --toolbox box",
			"c2  box/crash for skill  started\n"
			"c2  box/crash for skill  failed after 7 ms: its host died\n"},
		{"watch --count 1 --source me --ended",
			"c1  math/add for me  done after 1.5 ms: 3\n"},
		{"watch --count 1 --source me --arguments",
			"c1  math/add for me  started: {\"a\":1}\n"
			"c1  math/add for me  running  [50 %]  half  way\n"
			"c1  math/add for me  done after 1.5 ms: 3\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		answering_start(life);
		expect_lines(cases[i].line, cases[i].expected);
		answering_stop();
	}
}

Test(ctl_watch, prints_one_line_of_json_for_each_event)
{
	answering_start(life);
	cr_expect_eq(command_run(ctl_watch, "watch --json --count 1 --tool crash"), CTL_DONE);
	cr_expect_str_eq(command_output,
		"{\"type\":\"" STARTED "\",\"data\":{\"id\":\"c2\",\"toolbox_id\":\"box\","
		"\"name\":\"crash\",\"source\":\"skill\"}}\n"
		"{\"type\":\"" COMPLETED "\",\"data\":{\"id\":\"c2\",\"toolbox_id\":\"box\","
		"\"name\":\"crash\",\"source\":\"skill\",\"ok\":false,\"duration_ms\":7,"
		"\"error\":\"its host died\"}}\n");
}

Test(ctl_watch, advises_once_when_events_have_no_arguments)
{
	static const struct prepared bare[] = {
		{WATCH, "{" CALL("c1", "b", "t", "me") "}", STARTED},
		/* Refused, so that it may have had no good ones. */
		{WATCH, "{" CALL("c1", "b", "t", "me") ",'ok':false,'duration_ms':0}", COMPLETED},
		{WATCH, "{" CALL("c2", "b", "t", "me") "}", STARTED},
		{WATCH, "{" CALL("c3", "b", "t", "me") ",'ok':true,'duration_ms':1}", COMPLETED},
		{WATCH, "{" CALL("c2", "b", "t", "me") ",'ok':true,'duration_ms':1}", COMPLETED},
		{WATCH, "{" CALL("c4", "b", "t", "me") "}", STARTED},
		{WATCH, "{" CALL("c4", "b", "t", "me") ",'ok':true,'duration_ms':1}", COMPLETED},
		{WATCH, "{}", NULL},
		{0},
	};
	const char *first;

	answering_start(bare);
	cr_expect_eq(command_run(ctl_watch, "watch --arguments --count 4"), CTL_DONE);
	expect_complaint("the service sends no arguments in its events");
	first = strstr(command_complaints, "no arguments");
	cr_expect_null(strstr(first + 1, "no arguments"));
	answering_stop();
	answering_start(bare);
	cr_expect_eq(command_run(ctl_watch, "watch --arguments --count 2"), CTL_DONE);
	cr_expect_str_empty(command_complaints, "c3 is not the call whose start was seen");
}

Test(ctl_watch, refuses_what_counts_no_calls)
{
	static const char *const wrong[] = {
		"0", "-1", "x", "1x", "+1", "18446744073709551616", "1.5"};
	char line[64];
	char complaint[128];

	answering_start(life);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(line, sizeof(line), "watch --count=%s", wrong[i]);
		snprintf(complaint, sizeof(complaint),
			"--count must be a number of calls, at least 1, not '%s'\n", wrong[i]);
		expect_command(ctl_watch, line, CTL_USAGE, "", complaint);
	}
	for (size_t i = 0; i < 2; i++)
		expect_command(ctl_watch,
			i ? "watch --arguments --failed" : "watch --arguments --ended", CTL_USAGE,
			"",
			"--arguments is about the beginning of a call, which --ended and --failed "
			"leave out\n");
	cr_expect_str_empty(answering_requests());
}

Test(ctl_watch, ends_when_the_service_refuses_events)
{
	static const struct prepared messages[] = {
		{WATCH, "{'error':'not for you','code':'forbidden'}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_watch, "watch", CTL_ERROR, "", "not for you\n");
	expect_command(ctl_watch, "watch --json", CTL_ERROR,
		"{\"error\":\"not for you\",\"code\":\"forbidden\"}\n", "");
}

/* Every client of a bus can send messages with these topics. The sanitizers watch. */
Test(ctl_watch, stands_events_with_members_that_are_missing_or_of_another_type)
{
	static const struct prepared messages[] = {
		{WATCH, "{}", STARTED},
		{WATCH, "{'id':[],'name':{},'args':5,'source':null}", STARTED},
		{WATCH, "{'progress':'half','text':[]}", PROGRESS},
		{WATCH, "{'added':{},'removed':'x','total_tools':{}}", CHANGED},
		{WATCH, "{'ok':'yes','duration_ms':'long','error':{},'result':[]}", COMPLETED},
		{WATCH, "{}", COMPLETED},
		{WATCH, "{}", NULL},
		{0},
	};

	answering_start(messages);
	expect_lines("watch --count 2 --arguments",
		"  started\n"
		"  {}  started: 5\n"
		"  running\n"
		"the tools have changed; there are {}, added {}, removed x\n"
		"  failed after long ms: {}\n"
		"  failed ms\n");
}
