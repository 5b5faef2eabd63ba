/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "answering.h"

TestSuite(ctl_match, .fini = answering_stop, .timeout = 60);

Test(ctl_match, prints_the_tool_as_invoke_takes_it)
{
	static const struct prepared messages[] = {
		{"ovos.tools.match", "{'name':'add','toolbox_id':'math','arguments':{}}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_match, "match what is  3 plus 4", CTL_DONE, "math/add\n", "");
	cr_expect_str_eq(
		answering_requests(), "ovos.tools.match {'utterance':'what is  3 plus 4'}\n");
}

Test(ctl_match, complains_when_no_trigger_matches_and_is_done)
{
	static const struct prepared messages[] = {
		{"ovos.tools.match", "{'name':null,'toolbox_id':null}", NULL},
		{"ovos.tools.match", "{}", NULL},
		{"ovos.tools.match", "{'name':'add'}", NULL},
		{"ovos.tools.match", "{'name':1,'toolbox_id':[]}", NULL},
		{0},
	};

	answering_start(messages);
	for (size_t i = 0; i < 4; i++)
		expect_command(ctl_match, "match x", CTL_DONE, "",
			"no tool has a trigger that matches it\n");
}

Test(ctl_match, prints_its_response_as_it_came_with_json)
{
	static const struct prepared messages[] = {
		{"ovos.tools.match", "{'name':'add', 'toolbox_id':'math','x':1e400}", NULL},
		{"ovos.tools.match", "{'error':'no','code':'bad_request'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_match, "match --json x", CTL_DONE,
		"{\"name\":\"add\", \"toolbox_id\":\"math\",\"x\":1e400}\n", "");
	expect_command(ctl_match, "match --json x", CTL_ERROR,
		"{\"error\":\"no\",\"code\":\"bad_request\"}\n", "");
	expect_command(ctl_match, "match x", CTL_ERROR, "", "no\n");
}

Test(ctl_match, shows_no_control_character_of_a_name)
{
	static const struct prepared messages[] = {
		{"ovos.tools.match", "{'name':'a\\u001b[31m\\nb','toolbox_id':'\\u202e'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_match, "match x", CTL_DONE, "\\u202e/a\\u001b[31m b\n", "");
}

Test(ctl_match, has_the_exit_status_of_a_time_that_is_over_for_its_code)
{
	static const struct prepared messages[] = {
		{"ovos.tools.match", "{'error':'too long','code':'timeout'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_match, "match x", CTL_NO_ANSWER, "", "too long\n");
}
