/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help/complete.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "answering.h"
#include "quotes.h"
#include "util/cleanup.h"

TestSuite(ctl_complete, .fini = answering_stop, .timeout = 60);

#define WHICH (CTL_FLAG_TOOLBOX | CTL_FLAG_BUS)

static int refuse(const struct ctl_options *options)
{
	(void)options;
	return CTL_USAGE;
}

/* Commands with the usages whose words are completed. */
static const struct ctl_command commands[] = {
	{"list", "[NAME...]", "list", "", "", WHICH | CTL_FLAG_FORMAT, 0, CTL_MANY, refuse},
	{"get", "NAME", "show", "", "", WHICH, 1, 1, refuse},
	{"invoke", "NAME [KEY=VALUE]...", "run", "", "", WHICH, 1, CTL_MANY, refuse},
	{"status", "[TOOLBOX]", "state", "", "", CTL_FLAG_BUS, 0, 1, refuse},
	{"cancel", "CALL...", "end", "", "", CTL_FLAG_BUS, 1, CTL_MANY, refuse},
	{"calls", "", "calls", "", "", CTL_FLAG_TOOL, 0, 0, refuse},
	{"new", "ID", "new", "", "", CTL_FLAG_KIND, 1, 1, refuse},
	{"help", "[COMMAND | TOPIC]", "help", "", "", 0, 0, 1, refuse},
	{"approve", "ID...", "yes", "", "", CTL_FLAG_BUS, 1, CTL_MANY, ctl_approve},
	{"deny", "ID...", "no", "", "", CTL_FLAG_BUS, 1, CTL_MANY, ctl_deny},
	{"jobs", "[list | get JOB]", "jobs", "", "", CTL_FLAG_BUS, 0, CTL_MANY, refuse},
	{"complete", "-- WORD...", "", "", "", 0, 0, CTL_MANY, refuse},
};

static int complete(const struct ctl_options *options)
{
	return help_complete(commands, sizeof(commands) / sizeof(*commands), options);
}

static const struct prepared service[] = {
	{"ovos.tools.list",
		"{'tools':[{'toolbox_id':'math','name':'add'},{'toolbox_id':'math','name':'sub'},"
		"{'toolbox_id':'clock','name':'add_alarm'},{},5,{'toolbox_id':'x'},"
		"{'toolbox_id':3,'name':[]}]}",
		NULL},
	{"ovos.tools.get",
		"{'argument_schema':{'properties':{'a':{},'ab':{},'b':true,'c\\u001b':5}}}", NULL},
	{"ovos.tools.calls",
		"{'calls':[{'id':'c2','state':'running'},{'id':'c1','state':'running'},{},"
		"{'id':'d\\u001b'}]}",
		NULL},
	{0},
};

/* Expect the words after the line @line, which ends with the word at the cursor. */
static void expect_words(const char *line, const char *expected)
{
	char words[512];

	snprintf(words, sizeof(words), "complete -- %s", line);
	expect_command(complete, words, CTL_DONE, expected, "");
}

Test(ctl_complete, offers_commands_that_are_not_hidden)
{
	expect_words(
		"", "list\nget\ninvoke\nstatus\ncancel\ncalls\nnew\nhelp\napprove\ndeny\njobs\n");
	expect_words("c", "cancel\ncalls\n");
	expect_words("ca", "cancel\ncalls\n");
	expect_words("can", "cancel\n");
	expect_words("complete", "");
	expect_words("x", "");
}

Test(ctl_complete, offers_the_flags_of_a_command)
{
	cr_expect_eq(command_run(complete, "complete -- list --"), CTL_DONE);
	expect_output("--toolbox\n");
	expect_output("--format\n");
	expect_output("--json\n");
	cr_expect_null(strstr(command_output, "--kind"));
	expect_words("list --form", "--format\n");
	cr_expect_eq(command_run(complete, "complete -- --js"), CTL_DONE);
	cr_expect_str_eq(command_output, "--json\n");
}

Test(ctl_complete, offers_the_values_of_a_flag)
{
	expect_words("list --format ", "full\ncompact\nopenai\nanthropic\nmcp\nmarkdown\n");
	expect_words("list --format m", "mcp\nmarkdown\n");
	expect_words("new x --kind p", "plugin\nprograms\npython\n");
	expect_words("list --timeout ", "");
}

Test(ctl_complete, offers_topics_and_commands_for_help)
{
	cr_expect_eq(command_run(complete, "complete -- help "), CTL_DONE);
	expect_output("invoke\n");
	expect_output("manifest\n");
	expect_words("help ex", "exit-status\n");
	expect_words("help x ", "");
}

/* The same for a line that names a service. */
static void expect_of_service(const char *line, const char *expected)
{
	char words[512];

	answering_start(service);
	snprintf(words, sizeof(words), "complete -- --bus %s %s", answering_url(), line);
	expect_command(complete, words, CTL_DONE, expected, "");
	answering_stop();
}

Test(ctl_complete, offers_tools_by_their_names_or_with_their_toolboxes)
{
	expect_of_service("get ", "add\nsub\nadd_alarm\n");
	expect_of_service("get ad", "add\nadd_alarm\n");
	expect_of_service("get math/", "math/add\nmath/sub\n");
	expect_of_service("get add ", "");
	expect_of_service("list add ad", "add\nadd_alarm\n");
	expect_of_service("calls --tool s", "sub\n");
}

Test(ctl_complete, offers_each_toolbox_once)
{
	expect_of_service("status ", "math\nclock\n");
	expect_of_service("status m", "math\n");
	expect_of_service("status math ", "");
	expect_of_service("list --toolbox c", "clock\n");
}

Test(ctl_complete, offers_the_arguments_that_a_call_lacks)
{
	expect_of_service("invoke add ", "a=\nab=\nb=\nc\\u001b=\n");
	expect_of_service("invoke add a=3 ", "ab=\nb=\nc\\u001b=\n");
	expect_of_service("invoke add a:=3 a", "ab=\n");
	expect_of_service("invoke add ab=3 a", "a=\n");
}

static const struct prepared painter[] = {
	{"ovos.tools.get",
		"{'argument_schema':{'properties':{'colour':{'enum':['red','rose',5,null]},"
		"'fast':{'type':'boolean'},'one':{'const':'only'},'any':{'anyOf':[{'enum':['a1']},"
		"{'const':'a2'},7,{'type':'boolean'}],'oneOf':[{'enum':['o1']}]},"
		"'list':{'items':{'enum':['x','y']},'enum':['whole']},'free':{'type':'string'},"
		"'odd':true}}}",
		NULL},
	{0},
};

Test(ctl_complete, offers_the_values_that_a_schema_lists)
{
	static const char *const cases[][2] = {
		{"colour=", "colour=red\ncolour=rose\ncolour=5\ncolour=null\n"},
		{"colour=ro", "colour=rose\n"},
		{"colour:=", "colour:='red'\ncolour:='rose'\ncolour:=5\ncolour:=null\n"},
		{"fast=", "fast=true\nfast=false\n"},
		{"fast:=f", "fast:=false\n"},
		{"one=", "one=only\n"},
		{"any=", "any=a1\nany=a2\nany=true\nany=false\nany=o1\n"},
		/* The elements of a list, each after a comma. */
		{"list=", "list=whole\nlist=x\nlist=y\n"},
		{"list=x,", "list=x,x\nlist=x,y\n"},
		{"list=x,q,y", "list=x,q,y\n"},
		{"list:=", "list:='whole'\n"},
		{"free=", ""},
		{"odd=", ""},
		{"none=", ""},
		{"colour:", ""},
		{"colou", "colour=\n"},
	};

	answering_start(painter);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char words[512];
		cleanup_free char *expected = quoted(cases[i][1]);

		snprintf(words, sizeof(words), "complete -- --bus %s invoke paint %s",
			answering_url(), cases[i][0]);
		expect_command(complete, words, CTL_DONE, expected, "");
	}
}

static const struct prepared waiting[] = {
	{"ovos.tools.approval.list", "{'pending':[{'id':'q1'},{'id':'q2'},{},5]}", NULL},
	{"ovos.tools.job.list", "{'jobs':[{'job_id':'j1'},{'job_id':'k2'}]}", NULL},
	{0},
};

Test(ctl_complete, offers_the_ids_of_what_waits)
{
	static const char *const cases[][2] = {
		{"approve ", "q1\nq2\n"},
		{"deny q1 ", "q2\n"},
		{"jobs get ", "j1\nk2\n"},
		{"jobs get k", "k2\n"},
		/* The words of its usage come first. */
		{"jobs ", "list\nget\n"},
		{"jobs g", "get\n"},
	};

	answering_start(waiting);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char words[512];

		snprintf(words, sizeof(words), "complete -- --bus %s %s", answering_url(),
			cases[i][0]);
		expect_command(complete, words, CTL_DONE, cases[i][1], "");
	}
}

Test(ctl_complete, offers_the_values_of_a_flag_joined_to_it)
{
	expect_words("list --format=m", "--format=mcp\n--format=markdown\n");
	expect_words("list --format=", "--format=full\n--format=compact\n--format=openai\n"
				       "--format=anthropic\n--format=mcp\n--format=markdown\n");
	expect_words("list --none=", "");
	expect_words("list --timeout=", "");
	expect_words("new --kind m", "mcp\n");
	expect_words("list --risk ", "read\nwrite\nexecute\n");
	expect_words("list --nonsense x", "");
}

Test(ctl_complete, offers_the_calls_in_flight_once_each)
{
	expect_of_service("cancel ", "d\\u001b\n\nc1\nc2\n");
	expect_of_service("cancel c", "c1\nc2\n");
	expect_of_service("cancel c1 c", "c2\n");
}

Test(ctl_complete, offers_nothing_of_a_service_that_is_not_there)
{
	expect_words("get --bus ws://127.0.0.1:1/core x", "");
	expect_words("get --bus nonsense x", "");
}
