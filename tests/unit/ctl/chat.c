/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "answering.h"

TestSuite(ctl_chat, .fini = answering_stop, .timeout = 60);

#define ALIVE  "mycroft.toolbox-agent.is_alive"
#define ANSWER "{'answer':'Seven.','finish':'answer'}"

Test(ctl_chat, asks_the_agent_with_its_flags)
{
	static const struct prepared messages[] = {
		{ALIVE, "{'status':true}", NULL}, {"ovos.tools.chat", ANSWER, NULL}, {0}};

	answering_start(messages);
	expect_command(
		ctl_chat, "chat --profile kid --lang de-de what is  7", CTL_DONE, "Seven.\n", "");
	cr_expect_str_eq(answering_requests(),
		"ovos.tools.chat {'lang':'de-de','profile':'kid','utterance':'what is  7'}\n");
}

Test(ctl_chat, ends_by_the_end_of_its_turn)
{
	static const struct prepared messages[] = {{ALIVE, "{'status':true}", NULL},
		{"ovos.tools.chat", "{'answer':'Almost.','finish':'limit','reason':'no time'}",
			NULL},
		{"ovos.tools.chat", "{'error':'no','code':'bad_request'}", NULL}, {0}};

	answering_start(messages);
	expect_command(ctl_chat, "chat x", CTL_ERROR, "Almost.\n", "no time\n");
	expect_command(ctl_chat, "chat x", CTL_ERROR, "", "no\n");
}
