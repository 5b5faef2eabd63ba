/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answering.h"

static void set_up(void)
{
	setenv("TZ", "UTC", 1);
}

TestSuite(ctl_calls, .init = set_up, .fini = answering_stop, .timeout = 60);

/* The newest call comes first in a response, and is at the bottom of the table. */
static const char three_calls[] =
	"{'calls':["
	"{'id':'c3','name':'slow','toolbox_id':'box','source':'me','duration_ms':61000,"
	"'started':'2020-03-01T10:00:03.5Z','state':'running','progress':0.255,'text':'on it'},"
	"{'id':'c2','name':'crash','toolbox_id':'box','source':'skill','duration_ms':1500,"
	"'started':'2020-03-01T10:00:02Z','state':'failed','code':'host_crashed','text':'SIGSEGV'},"
	"{'id':'c1','name':'add','source':'skill','duration_ms':0.94,"
	"'started':'2020-03-01T10:00:01Z','state':'done'}]}";

Test(ctl_calls, has_a_row_for_each_call_with_the_newest_at_the_bottom)
{
	const struct prepared messages[] = {{"ovos.tools.calls", three_calls, NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_calls, "calls", CTL_DONE,
		"TIME            CALL  TOOL       CALLER     TOOK  OUTCOME\n"
		"03-01 10:00:01  c1    add        skill    0.9 ms  ok\n"
		"03-01 10:00:02  c2    box/crash  skill     1.5 s  host_crashed  SIGSEGV\n"
		"03-01 10:00:03  c3    box/slow   me      1.0 min  running  [26 %]  on it\n",
		"");
	cr_expect_str_eq(answering_requests(), "ovos.tools.calls {}\n");
}

Test(ctl_calls, asks_for_the_calls_that_its_flags_mean)
{
	static const struct {
		const char *line;
		const char *request;
	} cases[] = {
		{"calls --running", "{'state':'running'}"},
		{"calls --failed", "{'state':'failed'}"},
		{"calls --tool add", "{'name':'add'}"},
		{"calls --tool math/add", "{'name':'add','toolbox_id':'math'}"},
		{"calls --tool math/add --toolbox math", "{'name':'add','toolbox_id':'math'}"},
		{"calls --tool add --toolbox math --source me",
			"{'name':'add','toolbox_id':'math','source':'me'}"},
		{"calls --tool /add", "{'name':'add','toolbox_id':''}"},
	};
	const struct prepared messages[] = {{"ovos.tools.calls", "{'calls':[]}", NULL}, {0}};
	char expected[1024] = "";

	answering_start(messages);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_calls, cases[i].line), CTL_DONE, "%s", cases[i].line);
		strcat(strcat(strcat(expected, "ovos.tools.calls "), cases[i].request), "\n");
		cr_expect_str_eq(answering_requests(), expected, "%s: %s", cases[i].line,
			answering_requests());
	}
}

Test(ctl_calls, asks_for_all_calls_since_a_time)
{
	const struct prepared messages[] = {{"ovos.tools.calls", "{'calls':[]}", NULL}, {0}};
	double since_s = -1;

	answering_start(messages);
	cr_expect_eq(command_run(ctl_calls, "calls --since 10m"), CTL_DONE);
	cr_expect_eq(sscanf(answering_requests(), "ovos.tools.calls {'since_s':%lf,'limit':1000}",
			     &since_s),
		1, "%s", answering_requests());
	cr_expect(since_s >= 600 && since_s < 660, "%f", since_s);
	cr_expect_eq(command_run(ctl_calls, "calls --since 2099-01-01 --source me"), CTL_DONE);
	cr_expect_not_null(strstr(answering_requests(),
		"ovos.tools.calls {'source':'me','since_s':0.000,'limit':1000}\n"));
}

Test(ctl_calls, says_that_there_is_none_in_the_words_of_its_flags)
{
	static const char *const cases[][2] = {
		{"calls", "no call was made\n"},
		{"calls --running", "no call runs\n"},
		{"calls --failed", "no call has failed\n"},
		{"calls --failed --tool x", "no call that is asked for has failed\n"},
		{"calls --running --source x", "no call that is asked for runs\n"},
		{"calls --toolbox x", "no call that is asked for was made\n"},
		{"calls --since 1d", "no call that is asked for was made\n"},
	};
	const struct prepared messages[] = {{"ovos.tools.calls", "{'calls':[]}", NULL}, {0}};

	answering_start(messages);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_command(ctl_calls, cases[i][0], CTL_DONE, "", cases[i][1]);
}

Test(ctl_calls, asks_nothing_that_contradicts_itself)
{
	const struct prepared messages[] = {{"ovos.tools.calls", "{'calls':[]}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_calls, "calls --running --failed", CTL_USAGE, "",
		"a call is either --running or --failed\n");
	expect_command(ctl_calls, "calls --tool a/x --toolbox b", CTL_USAGE, "",
		"'a/x' is not in the toolbox that --toolbox names, 'b'\n");
	expect_command(ctl_calls, "calls --since yesterday", CTL_USAGE, "",
		"--since must be like 10m, 2h, 3d or 2026-11-23T10:00, not 'yesterday'\n");
	cr_expect_str_empty(answering_requests());
}

Test(ctl_calls, shows_the_day_only_of_calls_of_another_day)
{
	char data[256];
	char line[256];
	struct tm parts;
	time_t now = time(NULL);
	struct prepared messages[] = {{"ovos.tools.calls", data, NULL}, {0}};

	gmtime_r(&now, &parts);
	strftime(data, sizeof(data),
		"{'calls':[{'id':'c','name':'n','duration_ms':59999,'started':'%Y-%m-%dT%H:%M:%SZ'}"
		"]}",
		&parts);
	strftime(line, sizeof(line), "\n%H:%M:%S  c     n             60.0 s  ok\n", &parts);
	answering_start(messages);
	cr_expect_eq(command_run(ctl_calls, "calls"), CTL_DONE);
	expect_output(line);
}

Test(ctl_calls, are_shown_though_members_are_missing_or_of_another_type)
{
	static const struct prepared messages[] = {
		{"ovos.tools.calls", "{'calls':[{}]}", NULL},
		{"ovos.tools.calls",
			"{'calls':[{'id':1,'name':null,'toolbox_id':[],'source':{},'started':7,"
			"'duration_ms':'x','state':0,'code':4,'text':false,'progress':'much'}]}",
			NULL},
		{"ovos.tools.calls",
			"{'calls':[{'started':'not a "
			"time','duration_ms':1e300},1,null,['state'],[['id']],['id']]}",
			NULL},
		{0},
	};

	answering_start(messages);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(command_run(ctl_calls, "calls"), CTL_DONE, "%zu", i);
		expect_output("OUTCOME\n");
		expect_output("ok");
	}
}

Test(ctl_calls, are_not_shown_when_the_response_has_no_list)
{
	static const struct prepared messages[] = {
		{"ovos.tools.calls", "{}", NULL},
		{"ovos.tools.calls", "{'calls':{}}", NULL},
		{"ovos.tools.calls", "{'error':'not now','code':'busy','calls':[]}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_calls, "calls", CTL_ERROR, "", "the response has no calls\n");
	expect_command(ctl_calls, "calls", CTL_ERROR, "", "the response has no calls\n");
	expect_command(ctl_calls, "calls", CTL_ERROR, "", "not now\n");
}

Test(ctl_calls, are_printed_as_they_came_with_json)
{
	static const struct prepared messages[] = {
		{"ovos.tools.calls", "{'calls':[],\n 'more':1.50}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_calls, "calls --json", CTL_DONE, "{\"calls\":[],\"more\":1.50}\n", "");
}
