/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "answering.h"

TestSuite(ctl_cancel, .fini = answering_stop, .timeout = 60);

#define RUNNING(id, call_id)                                                                       \
	"{'id':'" id "','call_id':'" call_id "','name':'n','state':'running','duration_ms':1}"
#define OVER(id) "{'id':'" id "','name':'n','state':'done','duration_ms':1}"
#define FAILED(id)                                                                                 \
	"{'id':'" id "','name':'n','state':'failed','code':'timeout','text':'late','duration_ms':" \
	"1}"

static const char several[] = "{'calls':[" RUNNING("abcd", "mine-1") "," RUNNING("abce",
	"mine-2") "," RUNNING("ab", "other") "," OVER("xyz") "," FAILED("abz") "," OVER("xya") "]}";

static void start(const char *response)
{
	static struct prepared messages[4];

	messages[0] = (struct prepared){"ovos.tools.calls", several, NULL};
	messages[1] = (struct prepared){"ovos.tools.cancel", response, NULL};
	answering_start(messages);
}

Test(ctl_cancel, ends_the_call_that_an_id_or_the_beginning_of_one_means)
{
	static const char *const cases[][2] = {
		{"cancel abcd", "abcd"},
		{"cancel abcd --timeout 9", "abcd"},
		{"cancel abce", "abce"},
		{"cancel mine-2", "abce"},
		{"cancel oth", "ab"},
		/* A whole id is meant, though others begin with it. */
		{"cancel ab", "ab"},
	};
	char expected[256];

	start("{'cancelled':true}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *before = answering_requests() + strlen(answering_requests());

		snprintf(expected, sizeof(expected), "%s cancelled\n", cases[i][1]);
		expect_command(ctl_cancel, cases[i][0], CTL_DONE, expected, "");
		snprintf(expected, sizeof(expected),
			"ovos.tools.calls {'limit':1000}\novos.tools.cancel {'id':'%s'}\n",
			cases[i][1]);
		cr_expect_str_eq(before, expected, "%s: %s", cases[i][0], before);
	}
}

Test(ctl_cancel, ends_nothing_when_an_id_means_several_calls_or_none_that_runs)
{
	static const struct {
		const char *line;
		int status;
		const char *complaint;
	} cases[] = {
		{"cancel abc", CTL_USAGE,
			"several calls have an id that begins with 'abc': abce, abcd\n"},
		{"cancel mine", CTL_USAGE,
			"several calls have an id that begins with 'mine': mine-2, mine-1\n"},
		{"cancel xyz", CTL_ERROR, "call xyz is over: ok\n"},
		{"cancel abz", CTL_ERROR, "call abz is over: timeout  late\n"},
		{"cancel xy", CTL_ERROR,
			"no call in flight has an id that begins with 'xy'; 2 that are over have; "
			"see toolboxctl calls --running\n"},
		{"cancel none", CTL_ERROR,
			"no call has an id that begins with 'none': it is forgotten, or never "
			"existed; see toolboxctl calls --running\n"},
	};

	start("{'cancelled':true}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_command(ctl_cancel, cases[i].line, cases[i].status, "", cases[i].complaint);
	cr_expect_null(strstr(answering_requests(), "ovos.tools.cancel"));
}

Test(ctl_cancel, goes_on_after_an_id_that_means_none_and_reports_the_worst)
{
	start("{'cancelled':true}");
	cr_expect_eq(command_run(ctl_cancel, "cancel none abcd abc ab"), CTL_USAGE);
	cr_expect_str_eq(command_output, "abcd cancelled\nab cancelled\n");
	expect_complaint("'none'");
	expect_complaint("several calls");
}

Test(ctl_cancel, reports_a_call_that_has_ended_meanwhile)
{
	start("{'cancelled':false}");
	expect_command(ctl_cancel, "cancel abcd", CTL_ERROR, "", "call abcd has just ended\n");
	expect_command(ctl_cancel, "cancel abcd --json", CTL_ERROR, "{\"cancelled\":false}\n",
		"call abcd has just ended\n");
}

Test(ctl_cancel, prints_what_the_service_says)
{
	static const struct prepared messages[] = {
		{"ovos.tools.calls", several, NULL},
		{"ovos.tools.cancel", "{'error':'not yours','code':'forbidden'}", NULL},
		{"ovos.tools.cancel", "{'error':'not yours','code':'forbidden'}", NULL},
		{"ovos.tools.cancel", "{'cancelled':true,'id':'abcd'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_cancel, "cancel abcd", CTL_ERROR, "", "not yours\n");
	expect_command(ctl_cancel, "cancel abcd --json", CTL_ERROR,
		"{\"error\":\"not yours\",\"code\":\"forbidden\"}\n", "");
	expect_command(ctl_cancel, "cancel abcd --json", CTL_DONE,
		"{\"cancelled\":true,\"id\":\"abcd\"}\n", "");
}

Test(ctl_cancel, cancels_nothing_when_calls_are_not_listed)
{
	static const struct prepared messages[] = {
		{"ovos.tools.calls", "{'error':'not an administrator','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_cancel, "cancel abcd", CTL_ERROR, "", "not an administrator\n");
}
