/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answering.h"

static void set_up(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
}

TestSuite(ctl_list, .init = set_up, .fini = answering_stop, .timeout = 60);

#define LIST   "ovos.tools.list"
#define STATUS "ovos.tools.status"

#define ADD                                                                                        \
	"{'toolbox_id':'math','name':'add','description':'Add  two\\nnumbers.','risk':'read',"     \
	"'source':{'kind':'native'},'argument_schema':{'type':'object','properties':"              \
	"{'a':{'type':'number'},'b':{'type':'number','default':1}},'required':['a']},"             \
	"'output_schema':{'type':'object','properties':{'sum':{'type':'number'}},"                 \
	"'required':['sum']}}"
#define SUB   "{'toolbox_id':'math','name':'sub','description':'Subtract.'}"
#define TIME  "{'toolbox_id':'clock','name':'get_time','description':'The time.','risk':'read'}"
#define THREE "'tools':[" ADD "," SUB "," TIME "]"

/* ── what is printed ─────────────────────────────────────────────────────────────────────────── */

Test(ctl_list, has_a_row_for_each_tool)
{
	static const struct prepared messages[] = {{LIST, "{" THREE "}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_list, "list", CTL_DONE,
		"TOOLBOX  TOOL      KIND    RISK     DESCRIPTION\n"
		"math     add       native  read     Add two numbers.\n"
		"math     sub               unrated  Subtract.\n"
		"clock    get_time          read     The time.\n",
		"");
}

Test(ctl_list, marks_tools_of_a_toolbox_whose_calls_are_refused)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[" SUB "," TIME "],'quarantined':['cloc','clock',7]}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_list, "list", CTL_DONE,
		"TOOLBOX              TOOL      KIND  RISK     DESCRIPTION\n"
		"math                 sub             unrated  Subtract.\n"
		"clock (quarantined)  get_time        read     The time.\n",
		"");
}

Test(ctl_list, shows_how_tools_are_called_when_it_is_long)
{
	static const struct prepared messages[] = {{LIST, "{" THREE "}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_list, "list --long", CTL_DONE,
		"math\n"
		"  add(a: number, b: number = 1) → sum: number\n"
		"      Add two numbers.\n"
		"  sub(…) → any\n"
		"      Subtract.\n"
		"\n"
		"clock\n"
		"  get_time(…) → any\n"
		"      The time.\n",
		"");
}

Test(ctl_list, prints_a_list_for_a_model_as_it_is)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[{'type':'function'}]}", NULL},
		{LIST, "{'text':'# Tools\\n\\n- add\\u001b[31m\\n'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --format openai", CTL_DONE,
		"{\n  \"tools\": [\n    {\n      \"type\": \"function\"\n    }\n  ]\n}\n", "");
	expect_command(
		ctl_list, "list --format markdown", CTL_DONE, "# Tools\n\n- add\\u001b[31m\n", "");
	cr_expect_str_eq(answering_requests(),
		LIST " {'format':'openai'}\n" LIST " {'format':'markdown'}\n");
}

Test(ctl_list, asks_for_a_toolbox_and_a_profile)
{
	static const struct prepared messages[] = {{LIST, "{" THREE "}", NULL}, {0}};

	answering_start(messages);
	cr_expect_eq(command_run(ctl_list, "list --toolbox math --profile kids"), CTL_DONE);
	cr_expect_str_eq(answering_requests(), LIST " {'toolbox_id':'math','profile':'kids'}\n");
}

Test(ctl_list, is_printed_as_it_came_with_json)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[{'name':1.50}], 'x':0}", NULL},
		{LIST, "{'error':'no','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(
		ctl_list, "list --json", CTL_DONE, "{\"tools\":[{\"name\":1.50}], \"x\":0}\n", "");
	expect_command(ctl_list, "list --json", CTL_ERROR,
		"{\"error\":\"no\",\"code\":\"forbidden\"}\n", "");
	expect_command(ctl_list, "list", CTL_ERROR, "", "no\n");
}

Test(ctl_list, says_that_nothing_is_offered)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[]}", NULL},
		{STATUS, "{'toolboxes':[]}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list", CTL_DONE, "",
		"no tool is offered; add --why to see what was found, and why\n");
	expect_command(ctl_list, "list --long", CTL_DONE, "",
		"no tool is offered; add --why to see what was found, and why\n");
	expect_command(ctl_list, "list --why", CTL_DONE, "", "no tool is offered\n");
	expect_command(ctl_list, "list --profile kids", CTL_DONE, "",
		"there is no profile 'kids', or it has no tool that is offered\n");
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_list, has_only_the_tools_that_are_named)
{
	static const struct {
		const char *line;
		const char *names;
	} cases[] = {
		{"list --json add", "add"},
		{"list --json math/*", "add sub"},
		{"list --json *", "add sub get_time"},
		{"list --json get_* sub", "sub get_time"},
		{"list --json */get_time", "get_time"},
	};
	static const struct prepared messages[] = {{LIST, "{'x':1," THREE ",'y':[2]}", NULL}, {0}};
	static const char *const all[] = {"add", "sub", "get_time"};

	answering_start(messages);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_list, cases[i].line), CTL_DONE, "%s", cases[i].line);
		for (size_t j = 0; j < 3; j++) {
			char name[32];

			snprintf(name, sizeof(name), "\"name\":\"%s\"", all[j]);
			cr_expect_eq(strstr(command_output, name) != NULL,
				strstr(cases[i].names, all[j]) != NULL, "%s: %s", cases[i].line,
				command_output);
		}
		expect_output("{\"x\":1,\"tools\":[{");
		expect_output("}],\"y\":[2]}\n");
	}
}

Test(ctl_list, guesses_a_name_that_means_no_tool)
{
	static const struct prepared messages[] = {{LIST, "{" THREE "}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_list, "list add get_tim", CTL_ERROR, "",
		"no tool is called 'get_tim'; is it 'get_time'?\n");
	expect_command(ctl_list, "list zzz*", CTL_ERROR, "",
		"no tool is called 'zzz*'; see toolboxctl list\n");
	expect_command(ctl_list, "list clock/add", CTL_ERROR, "",
		"no tool is called 'clock/add'; is it 'add'?\n");
}

Test(ctl_list, refuses_words_that_are_no_names)
{
	static const char *const wrong[] = {"a/b/c", "/a", "a/", "a.b", "a,b", "ä", "a$", "/"};
	static const struct prepared messages[] = {{LIST, "{" THREE "}", NULL}, {0}};
	char line[64];
	char complaint[128];

	answering_start(messages);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(line, sizeof(line), "list add %s", wrong[i]);
		snprintf(complaint, sizeof(complaint),
			"'%s' is no name of tools: TOOL, TOOLBOX/TOOL, with * for any characters\n",
			wrong[i]);
		expect_command(ctl_list, line, CTL_USAGE, "", complaint);
	}
	cr_expect_str_empty(answering_requests());
}

Test(ctl_list, guesses_a_toolbox_that_offers_nothing)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[]}", NULL},
		{STATUS, "{'toolboxes':[{'toolbox_id':'math'}]}", NULL},
		{STATUS, "{'failed':[{'toolbox_id':'mat'}]}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --toolbox mat", CTL_ERROR, "",
		"no toolbox is called 'mat'; is it 'math'?\n");
	expect_command(ctl_list, "list --toolbox mat", CTL_DONE, "",
		"no tool is offered; add --why to see what was found, and why\n");
}

/* ── flags that do not go together ───────────────────────────────────────────────────────────── */

Test(ctl_list, refuses_flags_that_do_not_go_together)
{
	static const char *const cases[][2] = {
		{"list --format openai add",
			"NAME goes without --format and --stat: use --toolbox\n"},
		{"list --stat add", "NAME goes without --format and --stat: use --toolbox\n"},
		{"list --toolbox-dir x",
			"--toolbox-dir goes with --offline: a daemon has its own\n"},
		{"list --offline --profile x", "--profile needs the daemon: leave out --offline\n"},
		{"list --stat --json",
			"--stat needs the daemon, and goes with --toolbox, --profile and --format "
			"only\n"},
		{"list --stat --why",
			"--stat needs the daemon, and goes with --toolbox, --profile and --format "
			"only\n"},
		{"list --stat --offline",
			"--stat needs the daemon, and goes with --toolbox, --profile and --format "
			"only\n"},
		{"list --long --json",
			"--long prints text for people: leave out --format, --stat and --json\n"},
		{"list --long --format openai",
			"--long prints text for people: leave out --format, --stat and --json\n"},
		{"list --json --why",
			"--why prints text only: for JSON, use `toolboxctl status --json`\n"},
	};
	static const struct prepared messages[] = {{LIST, "{}", NULL}, {0}};

	answering_start(messages);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_command(ctl_list, cases[i][0], CTL_USAGE, "", cases[i][1]);
	cr_expect_str_empty(answering_requests());
}

/* ── why tools are not offered ───────────────────────────────────────────────────────────────── */

Test(ctl_list, shows_why_tools_are_not_offered)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[" TIME "]}", NULL},
		{STATUS,
			"{'toolboxes':[{'toolbox_id':'crashy','state':'quarantined','why':'crashed'"
			"},"
			"{'toolbox_id':'clock','state':'ready'}],"
			"'failed':[{'toolbox_id':'bad','error':'no library'}],"
			"'not_offered':[{'toolbox_id':'math','name':'add','why':'disabled'}],"
			"'configuration':[{'file':'/m','line':1,'path':'/x','error':'unknown'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --why", CTL_DONE,
		"TOOLBOX  TOOL      KIND  RISK  DESCRIPTION\n"
		"clock    get_time        read  The time.\n"
		"\n"
		"FAILED  ERROR\n"
		"bad     no library\n"
		"\n"
		"NOT OFFERED  WHY\n"
		"math/add     disabled\n"
		"\n"
		"TOOLBOX  STATE        WHY\n"
		"crashy   quarantined  crashed\n",
		"/m:1 /x: unknown\n");
}

Test(ctl_list, shows_the_tools_that_a_profile_leaves_out)
{
	static const struct prepared messages[] = {
		{LIST, "{'tools':[" SUB "]}", NULL},
		{LIST, "{'tools':[" SUB "]}", NULL},
		{LIST, "{" THREE "}", NULL},
		{STATUS, "{}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --why --profile kids", CTL_DONE,
		"TOOLBOX  TOOL  KIND  RISK     DESCRIPTION\n"
		"math     sub         unrated  Subtract.\n"
		"\n"
		"NOT OFFERED     WHY\n"
		"math/add        left out by the profile 'kids'\n"
		"clock/get_time  left out by the profile 'kids'\n",
		"");
}

/* ── what a list costs ───────────────────────────────────────────────────────────────────────── */

Test(ctl_list, counts_the_characters_of_each_toolbox)
{
	static const struct prepared messages[] = {
		{LIST, "{" THREE "}", NULL},
		{LIST, "{'tools':['äöü']}", NULL},
		{LIST, "{'text':'12345678é'}", NULL},
		{LIST, "{'tools':[]}", NULL}, /* a lazy list would save nothing */
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --stat --format anthropic", CTL_DONE,
		"TOOLBOX  TOOLS  CHARACTERS  TOKENS\n"
		"math         2           7       1\n"
		"clock        1           9       2\n"
		"sum          3          16       4\n",
		"");
	cr_expect_str_eq(answering_requests(),
		LIST " {}\n" LIST " {'toolbox_id':'math','format':'anthropic'}\n" LIST
		     " {'toolbox_id':'clock','format':'anthropic'}\n" LIST
		     " {'format':'mcp','toolboxes':true}\n");
}

Test(ctl_list, counts_nothing_further_after_an_error)
{
	static const struct prepared messages[] = {
		{LIST, "{" THREE "}", NULL},
		{LIST, "{'error':'busy','code':'busy'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_list, "list --stat", CTL_ERROR, "", "busy\n");
}

/* A service of others may send anything. The sanitizers watch. */
Test(ctl_list, stands_members_that_are_missing_or_of_another_type)
{
	static const char odd[] = "{'tools':[1,null,[],['name'],{},{'name':[],'toolbox_id':3,"
				  "'risk':null,'source':{},'description':7,'argument_schema':'x',"
				  "'output_schema':{'type':3}}],'quarantined':[{}]}";
	static const char *const lines[] = {
		"list", "list --long", "list --json", "list --why --profile p", "list --format x"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		static const char *const statuses[] = {"{}", "{'failed':3,'not_offered':[[],{}]}"};
		const struct prepared messages[] = {
			{LIST, odd, NULL}, {STATUS, statuses[i % 2], NULL}, {0}};

		answering_start(messages);
		cr_expect_eq(command_run(ctl_list, lines[i]), CTL_DONE, "%s", lines[i]);
		answering_stop();
	}
}

Test(ctl_list, has_no_sums_of_a_list_that_is_none)
{
	static const struct prepared messages[] = {{LIST, "{'tools':[{}]}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_list, "list --stat", CTL_ERROR, "", "");
}
