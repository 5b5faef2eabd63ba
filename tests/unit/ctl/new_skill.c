/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "../scratch.h"
#include "answering.h"

/* toolboxctl new --from-skill: the answers of a skill and of ovos-core become a manifest. */

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(chdir(scratch_folder), 0);
	setenv("HOME", scratch_folder, 1);
	setenv("XDG_CONFIG_HOME", scratch_folder, 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_new_skill, .init = set_up, .fini = tear_down, .timeout = 60);

#define ALIVE                                                                                      \
	{                                                                                          \
		"mycroft.skills.is_alive", "{'status':true}", NULL                                 \
	}
#define NO_FUNCTIONS                                                                               \
	{                                                                                          \
		"a.b.public_api", "{}", NULL                                                       \
	}
#define NO_INTENTS                                                                                 \
	{                                                                                          \
		"ovos.intent.describe", "{'ok':false,'error':'unknown intent'}", NULL              \
	}

Test(ctl_new_skill, writes_a_tool_for_each_function)
{
	static const struct prepared messages[] = {ALIVE, NO_INTENTS,
		{"a.b.public_api",
			"{'add':{'help':'Add\\n   two.','type':'a.b.add'},"
			"'get.it':{'type':'a.b.get'},'no_topic':{'help':'x'},'junk':5}",
			NULL},
		{0}};

	answering_start(messages);
	cr_assert_eq(command_run(ctl_new, "new --from-skill a.b --json"), CTL_DONE, "%s",
		command_complaints);
	expect_output("\"kind\":\"bus\",\"risk\":\"execute\"");
	expect_output("{\"name\":\"add\",\"description\":\"Add two.\",");
	expect_output("{\"name\":\"get_it\",\"description\":\"A function of the skill a.b.\",");
	expect_output("\"data\":{\"args\":\"{args}\",\"kwargs\":\"{kwargs}\"},\"reply\":true,");
	cr_expect_null(strstr(command_output, "no_topic"));
	cr_expect_eq(access("a_b.json", F_OK), 0);
}

Test(ctl_new_skill, writes_a_tool_for_each_set_of_slots_in_english_if_there_is_any)
{
	static const struct prepared messages[] = {ALIVE, NO_FUNCTIONS,
		{"ovos.intent.describe",
			"{'ok':true,'definitions':["
			"{'intent_name':'count.to','lang':'de-DE','definition':{'samples':['zaehle'"
			"]}},"
			"{'intent_name':'count.to','lang':'en-US','definition':{'samples':["
			"'please count forever','count forever','count to {n}','count from {m} to "
			"{n}',"
			"'count (to|until) {n} now','broken {',7]}},"
			"{'intent_name':'none','lang':'en-US','definition':{}},"
			"{'lang':'en-US'},5]}",
			NULL},
		{0}};

	answering_start(messages);
	cr_assert_eq(command_run(ctl_new, "new --from-skill a.b --json --out x.json"), CTL_DONE,
		"%s", command_complaints);
	expect_output("{\"name\":\"count_to\",");
	expect_output("\"utterances\":[\"count forever\"],\"lang\":\"en-US\"");
	expect_output("{\"name\":\"count_to_n\",");
	expect_output("\"utterances\":[\"count to {n}\"]");
	expect_output("{\"name\":\"count_to_m_n\",");
	expect_output("\"required\":[\"m\",\"n\"]");
	cr_expect_null(strstr(command_output, "zaehle"));
	cr_expect_null(strstr(command_output, "broken"));
	cr_expect_eq(access("x.json", F_OK), 0);
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --out x.json"), CTL_USAGE);
	expect_complaint("'x.json' is there already");
}

Test(ctl_new_skill, takes_the_first_language_without_english)
{
	static const struct prepared messages[] = {ALIVE, NO_FUNCTIONS,
		{"ovos.intent.describe",
			"{'definitions':[{'intent_name':'zaehle','lang':'de-DE','definition':"
			"{'samples':['zaehle']}},{'intent_name':'zaehle','lang':'fr-FR','"
			"definition':"
			"{'samples':['compte']}}]}",
			NULL},
		{0}};

	answering_start(messages);
	cr_assert_eq(
		command_run(ctl_new, "new --from-skill a.b"), CTL_DONE, "%s", command_complaints);
	expect_output("zaehle");
	cr_expect_null(strstr(command_output, "compte"));
	expect_output("cp a_b.json ~/.local/share/toolboxd/toolbox.d/");
}

Test(ctl_new_skill, writes_nothing_without_tools_or_without_ovos_core)
{
	static const struct prepared empty[] = {ALIVE, NO_FUNCTIONS, NO_INTENTS, {0}};
	static const struct prepared silent[] = {{"mycroft.toolboxd.is_alive", "{}", NULL}, {0}};

	answering_start(empty);
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b"), CTL_ERROR);
	expect_complaint("the skill 'a.b' tells of no tools");
	answering_stop();
	answering_start(silent);
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --timeout 1"), CTL_NO_BUS);
	expect_complaint("no skill service answers on the bus at ");
	expect_complaint("; is ovos-core running?");
	cr_expect_neq(access("a_b.json", F_OK), 0);
}

Test(ctl_new_skill, refuses_a_command_line_that_cannot_be)
{
	static const char *const lines[][2] = {
		{"new --from-skill a/b", "--from-skill must be the id of a skill"},
		{"new --from-skill ", "--from-skill must be the id of a skill"},
		{"new x --from-skill a.b", "--from-skill needs no ID and no --kind"},
		{"new --from-skill a.b --kind mcp", "--from-skill needs no ID and no --kind"},
		{"new --from-skill a.b --http http://127.0.0.1:9", "asks on the bus"},
		{"new --from-skill a.b --out x", "--out must be a file whose name ends in .json"},
		{"new x --kind native --out y", "--out is for --from-skill"},
		{"new --kind native", "new needs more arguments"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cr_expect_eq(command_run(ctl_new, lines[i][0]), CTL_USAGE, "%s", lines[i][0]);
		expect_complaint(lines[i][1]);
	}
}
