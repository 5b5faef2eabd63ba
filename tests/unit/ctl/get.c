/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "answering.h"

static void set_up(void)
{
	setenv("LC_ALL", "C.UTF-8", 1);
}

TestSuite(ctl_get, .init = set_up, .fini = answering_stop, .timeout = 60);

#define GET    "ovos.tools.get"
#define STATUS "ovos.tools.status"

Test(ctl_get, shows_how_to_call_a_tool_and_where_it_comes_from)
{
	static const struct prepared messages[] = {
		{GET,
			"{'toolbox_id':'math','name':'add','risk':'read','description':'Add  two\\n"
			" numbers.','timeout_ms':2500,'argument_schema':{'type':'object',"
			"'properties':{'a':{'type':'integer','minimum':0,'description':'the "
			"first'},"
			"'b':{'type':'integer','default':4},'c':{'type':['string','null'],"
			"'default':null}},'required':['a']},"
			"'output_schema':{'type':'object','properties':{'sum':{'type':'number',"
			"'description':'both'}}},'examples':[{'args':{'a':3,'b':4}}]}",
			NULL},
		{STATUS,
			"{'toolboxes':[{'toolbox_id':'mat'},{'toolbox_id':'math','file':'/t/"
			"m.json',"
			"'kind':'native'}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_get, "get math/add", CTL_DONE,
		"math/add (risk: read)\n"
		"Add two numbers.\n"
		"From /t/m.json, kind native.\n"
		"Deadline 2.5 s.\n"
		"\n"
		"ARGUMENT  TYPE                      DEFAULT   DESCRIPTION\n"
		"a         an integer of at least 0  required  the first\n"
		"b         an integer                4\n"
		"c         a string or null          null\n"
		"\n"
		"RESULT  TYPE      DESCRIPTION\n"
		"sum     a number  both\n"
		"\n"
		"To call it:\n"
		"  toolboxctl invoke math/add a=3 b=4\n",
		"");
	cr_expect_str_eq(answering_requests(),
		GET " {'name':'add','toolbox_id':'math','deadline':true}\n" STATUS " {}\n");
}

Test(ctl_get, shows_a_schema_that_is_no_plain_object_as_it_is)
{
	static const struct prepared messages[] = {
		{GET,
			"{'toolbox_id':'t','name':'n','argument_schema':{'type':'object'},"
			"'output_schema':true}",
			NULL},
		{STATUS, "{}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_get, "get n", CTL_DONE,
		"t/n (risk: unrated)\n"
		"\n"
		"ARGUMENT\n"
		"{\n"
		"  \"type\": \"object\"\n"
		"}\n"
		"\n"
		"RESULT\n"
		"true\n"
		"\n"
		"To call it:\n"
		"  toolboxctl invoke t/n\n",
		"");
}

Test(ctl_get, writes_a_command_that_a_shell_takes_as_it_is_meant)
{
	static const struct {
		const char *arguments;
		const char *words;
	} cases[] = {
		{"{'a':'plain'}", "a=plain"},
		{"{'a':'two words'}", "a='two words'"},
		{"{'a':'it\\u0027s'}", "a='it'\\''s'"},
		{"{'a':'$HOME `x` \\\\'}", "a='$HOME `x` \\'"},
		{"{'a':''}", "a:='\"\"'"},
		{"{'a':'12'}", "a:='\"12\"'"},
		{"{'a':'true'}", "a:='\"true\"'"},
		{"{'a':'@file'}", "a:='\"@file\"'"},
		{"{'a':'x\\ny'}", "a:='\"x\\ny\"'"},
		{"{'a':'\\u202e'}", "a:='\"\\u202e\"'"},
		{"{'a':12,'b':1.50,'c':null}", "a=12 b=1.50 c=null"},
		{"{'a':[1,2]}", "a='[1,2]'"},
		{"{'a':{'b':1}}", "a='{\"b\":1}'"},
		{"{'a b':1}", "--args '{\"a b\":1}'"},
		{"{'':1}", "--args '{\"\":1}'"},
		{"{'-x':1}", "--args '{\"-x\":1}'"},
		{"{'a.b':1,'c':2}", "--args '{\"a.b\":1,\"c\":2}'"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct prepared messages[COUNT + 2] = {0};
	static char data[COUNT][256];
	char expected[256];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(data[i], sizeof(data[i]),
			"{'toolbox_id':'t','name':'n','examples':[{'args':%s}]}",
			cases[i].arguments);
		messages[i] = (struct prepared){GET, data[i], NULL};
	}
	messages[COUNT] = (struct prepared){STATUS, "{}", NULL};
	answering_start(messages);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(expected, sizeof(expected),
			"t/n (risk: unrated)\n\nTo call it:\n  toolboxctl invoke t/n %s\n",
			cases[i].words);
		expect_command(ctl_get, "get n", CTL_DONE, expected, "");
	}
}

Test(ctl_get, makes_up_arguments_without_an_example)
{
	static const struct prepared messages[] = {
		{GET,
			"{'toolbox_id':'t','name':'n','argument_schema':{'type':'object','"
			"properties':"
			"{'a':{'type':'integer','minimum':3},'b':{'enum':['x','y']}},"
			"'required':['a','b']},'examples':[]}",
			NULL},
		{GET,
			"{'toolbox_id':'t','name':'n','argument_schema':{'type':'object','"
			"properties':"
			"{'a':{'type':'string','pattern':'^[0-9]{7}$'}},'required':['a']}}",
			NULL},
		{STATUS, "{}", NULL},
		{0},
	};

	answering_start(messages);
	cr_expect_eq(command_run(ctl_get, "get n"), CTL_DONE);
	expect_output("\nTo call it:\n  toolboxctl invoke t/n a=3 b=x\n");
	cr_expect_eq(command_run(ctl_get, "get n"), CTL_DONE);
	expect_output("\nTo call it, with values of your own:\n  toolboxctl invoke t/n a=");
}

Test(ctl_get, asks_for_a_tool_by_its_toolbox_and_profile)
{
	static const struct {
		const char *line;
		const char *request;
	} cases[] = {
		{"get add", "{'name':'add','deadline':true}"},
		{"get add --toolbox math", "{'name':'add','toolbox_id':'math','deadline':true}"},
		{"get math/add --toolbox math --profile kids",
			"{'name':'add','toolbox_id':'math','profile':'kids','deadline':true}"},
	};
	static const struct prepared messages[] = {{GET, "{}", NULL}, {0}};
	char expected[128];

	answering_start(messages);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[128];
		const char *before = answering_requests();

		while (*before)
			before++;
		snprintf(line, sizeof(line), "%s --json", cases[i].line);
		cr_expect_eq(command_run(ctl_get, line), CTL_DONE);
		snprintf(expected, sizeof(expected), GET " %s\n", cases[i].request);
		cr_expect_str_eq(before, expected, "%s: %s", line, before);
	}
	expect_command(ctl_get, "get math/add --toolbox clock", CTL_USAGE, "",
		"'math/add' is not in the toolbox that --toolbox names, 'clock'\n");
}

Test(ctl_get, advises_a_person_who_has_named_no_tool_or_several)
{
	static const struct prepared messages[] = {
		{GET, "{'error':'there is no tool \\u0027ad\\u0027','code':'unknown_tool'}", NULL},
		{GET,
			"{'error':'there is no tool; did you mean \\u0027add\\u0027?',"
			"'code':'unknown_tool'}",
			NULL},
		{GET, "{'error':'ambiguous','code':'ambiguous_tool','toolbox_ids':['a','b']}",
			NULL},
		{GET, "{'error':'not for you','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_get, "get ad", CTL_ERROR, "",
		"there is no tool 'ad'; see toolboxctl list --why\n");
	expect_command(ctl_get, "get ad", CTL_ERROR, "", "there is no tool; did you mean 'add'?\n");
	expect_command(ctl_get, "get ad", CTL_ERROR, "",
		"Several toolboxes have 'ad': type a/ad or b/ad\n");
	expect_command(ctl_get, "get ad", CTL_ERROR, "", "not for you\n");
}

/* A service of others may send anything. The sanitizers watch. */
Test(ctl_get, stands_members_that_are_missing_or_of_another_type)
{
	static const struct prepared messages[] = {
		{GET, "{}", NULL},
		{GET,
			"{'toolbox_id':[],'name':{},'risk':null,'description':5,'timeout_ms':'x',"
			"'argument_schema':[],'output_schema':5,'examples':[[]]}",
			NULL},
		{GET,
			"{'argument_schema':{'type':'object','properties':{'a':5,'b':[],'c':{"
			"'description':[],'default':{}}},'required':{}},'examples':{}}",
			NULL},
		{GET,
			"{'argument_schema':{'properties':[],'required':5},"
			"'output_schema':{'properties':{}},'examples':[{'args':[]}]}",
			NULL},
		{STATUS, "{'toolboxes':[1,['toolbox_id'],{'toolbox_id':4},{}]}", NULL},
		{0},
	};

	answering_start(messages);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(command_run(ctl_get, "get n"), CTL_DONE, "%zu", i);
		expect_output("toolboxctl invoke ");
	}
}
