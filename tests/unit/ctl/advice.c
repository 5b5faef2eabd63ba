/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/advice.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "manifest_fixture.h"
#include "quotes.h"
#include "util/buffer.h"

/* Advice about manifests that are read. JSON is written with ' in place of ". */

TestSuite(ctl_advice, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

static void write_advice(void *data, const struct diagnostic *finding)
{
	struct buffer *out = data;

	cr_expect_eq(finding->severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(finding->file, manifest_path("box.json"));
	buffer_printf(out, "%u %s %s\n", finding->line, finding->pointer, finding->text);
}

/* Read @text as box.json, and expect a finding that begins with each of the lines @expected. */
static void expect_advice(const char *text, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	const struct diagnostic_sink sink = {write_advice, &out};
	const char *line;
	size_t n = 0;

	cr_assert_eq(advice_give(read_good(text), &sink), 0);
	line = buffer_terminate(&out);
	for (const char *wanted = expected; *wanted; n++) {
		size_t size = strcspn(wanted, "\n");

		cr_assert(strncmp(line, wanted, size) == 0, "%s: %.*s\nis not in\n%s", text,
			(int)size, wanted, out.data);
		line = strchr(line, '\n') + 1;
		wanted += size + (wanted[size] == '\n');
	}
	cr_expect_str_eq(line, "", "%s", text);
}

#define COMMAND(members) "{'kind':'command','tools':[{'name':'f'," members "}]}"
#define GOOD             "'risk':'read','description':'It.',"

Test(ctl_advice, is_silent_about_a_good_manifest)
{
	expect_advice(COMMAND(GOOD "'triggers':['please .*'],'command':{'argv':['f']}"), "");
	expect_advice(
		"{'kind':'native','library':'libm.so.6','tools':[{'name':'f'," GOOD SQRT "}]}", "");
}

Test(ctl_advice, misses_the_risk_of_each_tool)
{
	static const char *const bad[] = {
		"{'kind':'command',\n'tools':[{'name':'f','risk':'read','description':'It.',"
		"'command':{'argv':['f']}},\n{'name':'g','description':'It.',"
		"'command':{'argv':['g']}}]}",
		"3 /tools/1 the tool 'g' does not declare its \"risk\": add \"read\", \"write\"",
	};

	expect_advice(bad[0], bad[1]);
	expect_advice("{'kind':'command','risk':'read',\n'tools':[{'name':'g',"
		      "'description':'It.','command':{'argv':['g']}}]}",
		"");
}

Test(ctl_advice, misses_the_description_of_each_tool)
{
	expect_advice(COMMAND("'risk':'read','command':{'argv':['f']}"),
		"1 /tools/0 the tool 'f' has no \"description\": a model cannot know when");
	expect_advice(COMMAND("'risk':'read','description':'','command':{'argv':['f']}"),
		"1 /tools/0 the tool 'f' has no \"description\"");
}

Test(ctl_advice, names_triggers_that_match_every_utterance)
{
	static const struct {
		const char *triggers;
		const char *advice;
	} rows[] = {
		{"['please']", ""},
		{"['.*']",
			"1 /tools/0/triggers/0 trigger 0 of the tool 'f' matches every utterance"},
		{"['please','(please)?','(now)?']",
			"1 /tools/0/triggers/1 trigger 1 of the tool 'f' matches\n"
			"1 /tools/0/triggers/2 trigger 2 of the tool 'f' matches"},
		{"['a|']", "1 /tools/0/triggers/0 trigger 0"},
		{"['[a-z]+']", ""},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), COMMAND(GOOD "'triggers':%s,'command':{'argv':['f']}"),
			rows[i].triggers);
		expect_advice(text, rows[i].advice);
	}
}

#define PROPERTIES(text) "'argument_schema':{'type':'object','properties':{" text "}"

Test(ctl_advice, names_arguments_that_a_format_cannot_have)
{
	expect_advice(COMMAND(GOOD PROPERTIES("'a b':{}") "},'command':{'argv':['f']}"),
		"1 /tools/0 the tool 'f' has the argument \n"
		"1 /tools/0/argument_schema the tool 'f': the argument 'a b' is on stdin only");
	expect_advice(COMMAND(GOOD PROPERTIES("'a b':{}") ",'required':['a b']},"
							  "'command':{'argv':['f']}"),
		"1 /tools/0 the tool 'f' requires the argument \n"
		"1 /tools/0/argument_schema the tool 'f': the argument 'a b' is on stdin only");
}

Test(ctl_advice, names_arguments_that_have_no_variable_of_their_own)
{
	static const struct {
		const char *properties;
		const char *advice;
	} rows[] = {
		{"'a':{},'b':{},'A2':{},'a_b':{},'a-c':{}", ""},
		{"'a-b':{},'a_b':{}", "1 /tools/0/argument_schema the tool 'f': the argument 'a_b' "
				      "and an earlier one have the same variable, $TOOL_ARG_A_B"},
		{"'a':{},'b':{},'A':{}",
			"1 /tools/0/argument_schema the tool 'f': the argument 'A' and an earlier"},
		{"'a.b':{}",
			"1 /tools/0/argument_schema the tool 'f': the argument 'a.b' is on stdin"},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text),
			COMMAND(GOOD PROPERTIES("%s") "},'command':{'shell':'f'}"),
			rows[i].properties);
		expect_advice(text, rows[i].advice);
	}
}

Test(ctl_advice, names_options_that_would_take_the_word_after_a_value)
{
	static const struct {
		const char *argv; /* after the program */
		const char *rest; /* further members of the schema */
		bool has_advice;
	} rows[] = {
		{"'-t','{a}'", "", true},
		{"'--time','{a}'", "", true},
		{"'x','-t','{a}','y'", "", true},
		{"'-t','{a}'", ",'required':['a']", false},
		{"'-t','{a}'", ",'required':['b']", true},
		{"['-t','{a}']", "", false},
		{"'-t',['{a}']", "", true},
		{"'--','{a}'", "", false},
		{"'-','{a}'", "", false},
		{"'t','{a}'", "", false},
		{"'--time=1','{a}'", "", false},
		{"'-t','x{a}'", "", false},
		{"'-t','{a}x'", "", false},
		{"'-t','{d}'", "", false},
		{"'-t{a?}','{a}'", "", false},
		{"'-t'", "", false},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text),
			COMMAND(GOOD PROPERTIES(
				"'a':{'type':'string'},'b':{},"
				"'d':{'type':'string','default':''}") "%s},"
								      "'command':{'argv':['f',%s]"
								      "}"),
			rows[i].rest, rows[i].argv);
		expect_advice(text, rows[i].has_advice
					    ? "1 /tools/0/command/argv the tool 'f': without 'a' "
					      "the option '-"
					    : "");
	}
}

Test(ctl_advice, shows_the_group_to_write)
{
	expect_advice(COMMAND(GOOD PROPERTIES("'a':{'type':'string'}") "},'command':{'argv':['f',"
								       "'-t','{a}']}"),
		"1 /tools/0/command/argv the tool 'f': without 'a' the option '-t' takes the word "
		"after it: if '{a}' is its value, write the group [\"-t\", \"{a}\"], which is left "
		"out whole");
}

Test(ctl_advice, lists_the_questions_of_a_manifest)
{
	expect_advice("{'kind':'native','library':'libm.so.6','tools':[{'name':'f'," GOOD
		      "\n'native':{'symbol':'frexp','parameters':[{'name':'x','type':'f64',\n"
		      "'question':'in metres?'},{'name':'e','type':'i32','dir':'out'}],\n"
		      "'returns':{'type':'f64','question':'why?'}}}]}",
		"3 /tools/0/native/parameters/0/question the tool 'f' has a question: in metres?\n"
		"4 /tools/0/native/returns/question the tool 'f' has a question: why?");
}
