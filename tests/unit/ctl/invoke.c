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

TestSuite(ctl_invoke, .init = set_up, .fini = answering_stop, .timeout = 60);

#define GET      "ovos.tools.get"
#define INVOKE   "ovos.tools.invoke"
#define VALIDATE "ovos.tools.validate"
#define STATUS   "ovos.tools.status"

#define DEFINITION                                                                                 \
	"{'toolbox_id':'box','name':'tool','argument_schema':{'type':'object','properties':"       \
	"{'n':{'type':'integer'},'text':{'type':'string'},'many':{'type':'array','items':"         \
	"{'type':'integer'}},'bytes':{'type':'string','contentEncoding':'base64'}}},"              \
	"'output_schema':{'type':'object','properties':{'data':{'type':'string',"                  \
	"'contentEncoding':'base64'},'text':{'type':'string'}}}}"

/* Start a service with one tool, whose calls end with @response. */
static void start(const char *response)
{
	static struct prepared messages[3];

	messages[0] = (struct prepared){GET, DEFINITION, NULL};
	messages[1] = (struct prepared){INVOKE, response, NULL};
	answering_start(messages);
}

/* Expect that the last request has @part, written with '. */
static void expect_request(const char *part)
{
	cr_expect(
		strstr(answering_requests(), part), "%s\nis not in %s", part, answering_requests());
}

/* ── arguments ───────────────────────────────────────────────────────────────────────────────── */

Test(ctl_invoke, sends_words_as_the_schema_wants_them)
{
	static const char *const cases[][2] = {
		{"invoke tool", "'args':{}}"},
		{"invoke tool n=3", "'args':{'n':3}}"},
		{"invoke tool text=3", "'args':{'text':'3'}}"},
		{"invoke tool n=3 text=", "'args':{'n':3,'text':''}}"},
		{"invoke tool many=1,2", "'args':{'many':[1,2]}}"},
		{"invoke tool text:=3", "'args':{'text':3}}"},
		{"invoke tool --args {}", "'args':{}}"},
		{"invoke tool --args {\"n\":1.50}", "'args':{'n':1.50}}"},
		{"invoke box/tool n=-1", "'toolbox_id':'box',"},
		{"invoke tool --profile kids", "'profile':'kids',"},
		{"invoke tool --timeout 2.5", "'timeout_ms':2500,"},
	};

	start("{'result':1}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		expect_command(ctl_invoke, cases[i][0], CTL_DONE, "1\n", "");
		expect_request(cases[i][1]);
	}
}

Test(ctl_invoke, sends_no_call_with_arguments_that_cannot_be_used)
{
	static const char *const cases[][2] = {
		{"invoke tool --args {} n=1",
			"--args are all the arguments: 'n=1' is one too many"},
		{"invoke tool --args 1", "object"},
		{"invoke tool --args {", "JSON"},
		{"invoke tool --args {\"a\":1,\"a\":2}", "a"},
		{"invoke tool n", "n"},
		{"invoke tool =1", "="},
		{"invoke tool n:=", "n"},
		{"invoke tool text=@/no/such/file", "/no/such/file"},
	};

	start("{'result':1}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_invoke, cases[i][0]), CTL_USAGE, "%s", cases[i][0]);
		cr_expect_str_empty(command_output);
		expect_complaint(cases[i][1]);
	}
	cr_expect_null(strstr(answering_requests(), INVOKE));
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_invoke, prints_the_result_indented_or_the_response_as_it_came)
{
	start("{'result':{'a':[1,2.50],'b':'x\\u001b'},'more':1}");
	expect_command(ctl_invoke, "invoke tool", CTL_DONE,
		"{\n  \"a\": [\n    1,\n    2.50\n  ],\n  \"b\": \"x\\u001b\"\n}\n", "");
	expect_command(ctl_invoke, "invoke tool --json", CTL_DONE,
		"{\"result\":{\"a\":[1,2.50],\"b\":\"x\\u001b\"},\"more\":1}\n", "");
}

Test(ctl_invoke, prints_one_text_raw)
{
	static const struct {
		const char *response;
		const char *output;
	} cases[] = {
		{"{'result':'hello'}", "hello"},
		{"{'result':{'text':'a\\nb'}}", "a\nb"},
		{"{'result':{'other':1.50}}", "1.50"},
		{"{'result':{'data':'aGk='}}", "hi"},
		{"{'result':{'data':'no base64'}}", "no base64"},
		{"{'result':{'text':'aGk='}}", "aGk="},
		{"{'result':''}", ""},
		{"{'result':null}", "null"},
		{"{'result':true}", "true"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct prepared messages[COUNT + 2] = {{GET, DEFINITION, NULL}};

	for (size_t i = 0; i < COUNT; i++)
		messages[i + 1] = (struct prepared){INVOKE, cases[i].response, NULL};
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++)
		expect_command(ctl_invoke, "invoke tool --raw", CTL_DONE, cases[i].output, "");
}

Test(ctl_invoke, prints_nothing_raw_of_a_result_that_is_not_one_text)
{
	static const char complaint[] = "the result is not one text, as --raw needs it; --get "
					"result.NAME prints a part, --json all of it\n";
	static const char *const responses[] = {"{'result':{'a':1,'b':2}}", "{'result':[1]}",
		"{'result':{}}", "{'result':{'a':{}}}", "{}"};
	enum { COUNT = sizeof(responses) / sizeof(*responses) };
	struct prepared messages[COUNT + 2] = {{GET, DEFINITION, NULL}};

	for (size_t i = 0; i < COUNT; i++)
		messages[i + 1] = (struct prepared){INVOKE, responses[i], NULL};
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++)
		expect_command(ctl_invoke, "invoke tool --raw", CTL_ERROR, "", complaint);
}

Test(ctl_invoke, prints_the_part_that_a_path_means)
{
	static const struct {
		const char *path;
		const char *output;
	} cases[] = {
		{"result.text", "hello\n"},
		{"result.list.0", "1\n"},
		{"result.list.2.deep", "x\n"},
		{"result.list", "[1,2,{\"deep\":\"x\"}]\n"},
		{"took", "5\n"},
		{"result.", "empty key\n"},
	};

	start("{'result':{'text':'hello','list':[1,2,{'deep':'x'}],'':'empty key'},'took':5}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[64];

		snprintf(line, sizeof(line), "invoke tool --get %s", cases[i].path);
		expect_command(ctl_invoke, line, CTL_DONE, cases[i].output, "");
	}
}

Test(ctl_invoke, names_what_a_path_could_have_meant)
{
	static const char *const cases[][2] = {
		{"text", "the response has no 'text'; did you mean 'result.text'?\n"},
		{"result.tex", "the response has no 'result.tex'; 'result' has 'text', 'list'\n"},
		{"other", "the response has no 'other'; it has 'result', 'took'\n"},
		{"result.list.3", "the response has no 'result.list.3'\n"},
		{"result.list.-1", "the response has no 'result.list.-1'\n"},
		{"result.list.0x0", "the response has no 'result.list.0x0'\n"},
		{"result.list.", "the response has no 'result.list.'\n"},
		{"result.list.18446744073709551616",
			"the response has no 'result.list.18446744073709551616'\n"},
		{"result.text.x", "the response has no 'result.text.x'\n"},
	};

	start("{'result':{'text':'hello','list':[1,2]},'took':5}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[96];

		snprintf(line, sizeof(line), "invoke tool --get %s", cases[i][0]);
		expect_command(ctl_invoke, line, CTL_ERROR, "", cases[i][1]);
	}
}

Test(ctl_invoke, names_no_more_than_ten_members)
{
	start("{'result':{'1':0,'2':0,'3':0,'4':0,'5':0,'6':0,'7':0,'8':0,'9':0,'10':0,'11':0}}");
	expect_command(ctl_invoke, "invoke tool --get result.x", CTL_ERROR, "",
		"the response has no 'result.x'; 'result' has '1', '2', '3', '4', '5', '6', '7', "
		"'8', '9', '10', ...\n");
}

/* ── failures ────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_invoke, shows_how_the_program_of_a_tool_has_ended)
{
	start("{'error':'its program failed','code':'tool_error','exit_code':3,'signal':null,"
	      "'stderr':'one\\n\\n  two\\u001b[31m\\n\\n','output':'partial'}");
	expect_command(ctl_invoke, "invoke tool", CTL_ERROR, "",
		"its program failed\n"
		"  exit status: 3\n"
		"  stderr:\n"
		"    one\n"
		"\n"
		"      two\\u001b[31m\n"
		"  output:\n"
		"    partial\n");
}

Test(ctl_invoke, names_the_signal_of_a_program)
{
	start("{'error':'it died','code':'tool_error','signal':'SIGKILL','stderr':'\\n\\n'}");
	expect_command(ctl_invoke, "invoke tool", CTL_ERROR, "", "it died\n  signal: SIGKILL\n");
}

Test(ctl_invoke, advises_to_look_at_the_toolbox_whose_process_has_died)
{
	start("{'error':'its host died (SIGSEGV)','code':'host_crashed'}");
	expect_command(ctl_invoke, "invoke tool", CTL_ERROR, "",
		"its host died (SIGSEGV)\n"
		"  what its processes have printed: toolboxctl status box\n");
}

Test(ctl_invoke, shows_the_signature_when_arguments_are_refused)
{
	start("{'error':'/n: must be an integer','code':'invalid_arguments'}");
	expect_command(ctl_invoke, "invoke tool text=x", CTL_ERROR, "",
		"/n: must be an integer\n"
		"tool(n?: integer, text?: string, many?: array of integer, bytes?: base64) → "
		"data: base64, text: string\n");
}

Test(ctl_invoke, has_the_exit_status_of_a_deadline)
{
	start("{'error':'too long','code':'timeout'}");
	expect_command(ctl_invoke, "invoke tool", CTL_NO_ANSWER, "", "too long\n");
}

Test(ctl_invoke, does_not_name_a_call_id_that_it_has_made_up)
{
	start("{'error':'call 0123 was cancelled by x','code':'cancelled'}");
	expect_command(ctl_invoke, "invoke tool", CTL_ERROR, "", "the call was cancelled\n");
}

Test(ctl_invoke, reports_a_tool_that_is_none_when_it_is_called)
{
	static const struct prepared messages[] = {
		{GET, "{'error':'there is no tool','code':'unknown_tool'}", NULL},
		{INVOKE, "{'error':'no such tool','code':'unknown_tool'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_invoke, "invoke tool n=1", CTL_ERROR, "",
		"no such tool; see toolboxctl list --why\n");
}

/* ── --dry-run ───────────────────────────────────────────────────────────────────────────────── */

Test(ctl_invoke, asks_for_a_verdict_and_calls_nothing_in_a_dry_run)
{
	static const struct prepared messages[] = {
		{GET, DEFINITION, NULL},
		{VALIDATE, "{'valid':true}", NULL},
		{VALIDATE,
			"{'valid':false,'violations':[{'path':'/n','message':'must be an integer'},"
			"{'message':'lacks x'},{'path':4},7]}",
			NULL},
		{VALIDATE, "{'valid':false}", NULL},
		{VALIDATE, "{'valid':'yes'}", NULL},
		{VALIDATE, "{'error':'busy','code':'busy'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_invoke, "invoke tool n=1 --dry-run", CTL_DONE, "valid\n", "");
	expect_request(VALIDATE " {'name':'tool','args':{'n':1}}\n");
	cr_expect_eq(command_run(ctl_invoke, "invoke tool n=1 --dry-run"), CTL_ERROR);
	expect_complaint("/n: must be an integer\n");
	expect_complaint("lacks x\n");
	expect_complaint("tool(n?: integer");
	cr_expect_eq(command_run(ctl_invoke, "invoke tool --dry-run --json"), CTL_ERROR);
	cr_expect_str_eq(command_output, "{\"valid\":false}\n");
	cr_expect_eq(command_run(ctl_invoke, "invoke tool --dry-run"), CTL_ERROR);
	cr_expect_str_empty(command_output);
	expect_command(ctl_invoke, "invoke tool --dry-run", CTL_ERROR, "", "busy\n");
	cr_expect_null(strstr(answering_requests(), INVOKE));
}

/* A service of others may send anything. The sanitizers watch. */
Test(ctl_invoke, stands_members_that_are_missing_or_of_another_type)
{
	static const char *const lines[] = {"invoke tool n=1", "invoke tool n=1 --raw",
		"invoke tool n=1 --get result", "invoke tool n=1 --dry-run"};
	static const char *const definitions[] = {"{}", "{'argument_schema':[],'timeout_ms':[]}",
		"{'argument_schema':{'properties':5},'output_schema':5,'timeout_ms':1e300}",
		"{'argument_schema':{'properties':{'n':5}},'output_schema':{'properties':[]}}"};
	static const char *const responses[] = {"{}", "{'error':{},'code':[],'stderr':5}",
		"{'error':null,'toolbox_ids':[1,{}],'exit_code':{},'output':[]}",
		"{'result':{'x':{}},'valid':5,'violations':[[],{'path':[]}]}"};

	for (size_t i = 0; i < 4; i++) {
		struct prepared messages[] = {{GET, definitions[i], NULL},
			{INVOKE, responses[i], NULL}, {VALIDATE, responses[i], NULL}, {0}};

		answering_start(messages);
		for (size_t j = 0; j < 4; j++) {
			int r = command_run(ctl_invoke, lines[j]);

			cr_expect(r == CTL_DONE || r == CTL_ERROR, "%zu %s: %d", i, lines[j], r);
		}
		answering_stop();
	}
}
