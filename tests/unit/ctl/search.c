/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "answering.h"

TestSuite(ctl_search, .fini = answering_stop, .timeout = 60);
TestSuite(ctl_say, .fini = answering_stop, .timeout = 60);

#define SEARCH "ovos.tools.search"
#define SAY    "ovos.tools.utterance"

Test(ctl_search, prints_what_was_found)
{
	static const struct prepared messages[] = {
		{SEARCH,
			"{'tools':[{'toolbox_id':'math','name':'add','description':'Add  two\\n"
			"numbers.'},{'toolbox_id':'m','name':'sub'}]}",
			NULL},
		{SEARCH, "{'tools':[]}", NULL},
		{SEARCH, "{}", NULL},
		{SEARCH, "{'error':'no','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_search, "search --toolbox math --profile kid add two", CTL_DONE,
		"TOOLBOX  TOOL  DESCRIPTION\n"
		"math     add   Add two numbers.\n"
		"m        sub\n",
		"");
	cr_expect_str_eq(answering_requests(),
		SEARCH " {'query':'add two','toolbox_id':'math','profile':'kid'}\n");
	expect_command(ctl_search, "search x", CTL_DONE, "", "no tool has one of these words\n");
	expect_command(ctl_search, "search x", CTL_DONE, "", "no tool has one of these words\n");
	expect_command(ctl_search, "search x", CTL_ERROR, "", "no\n");
}

Test(ctl_say, prints_the_words_for_a_person)
{
	static const struct prepared messages[] = {
		{"mycroft.toolboxd.is_alive", "{'status':true}", NULL},
		{SAY, "{'matched':true,'speech':'It is\\nseven.','result':{'a':1}}", NULL},
		{SAY, "{'matched':true,'result':{'a':1}}", NULL},
		{SAY, "{'matched':true,'speech':5,'result':7}", NULL},
		{SAY, "{'matched':false}", NULL},
		{SAY, "{'matched':false, 'x':1}", NULL},
		{SAY, "{'error':'no','code':'forbidden'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_say, "say --lang de-de what is  7", CTL_DONE, "It is seven.\n", "");
	cr_expect_str_eq(answering_requests(), SAY " {'utterance':'what is  7','lang':'de-de'}\n");
	expect_command(ctl_say, "say x", CTL_DONE, "{\"a\":1}\n", "");
	expect_command(ctl_say, "say x", CTL_DONE, "", "");
	expect_command(ctl_say, "say x", CTL_ERROR, "", "no tool takes it: see toolboxctl match\n");
	expect_command(ctl_say, "say --json x", CTL_ERROR, "{\"matched\":false, \"x\":1}\n", "");
	expect_command(ctl_say, "say x", CTL_ERROR, "", "no\n");
}
