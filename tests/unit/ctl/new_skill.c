/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Run the command with the functions @functions and the definitions @definitions, and expect
 * @status. */
static void run_with(const char *functions, const char *definitions, int status)
{
	static char described[8192];
	static struct prepared messages[] = {ALIVE, {"a.b.public_api", NULL, NULL},
		{"ovos.intent.describe", described, NULL}, {0}};

	messages[1].data = functions;
	snprintf(described, sizeof(described), "{'definitions':%s}", definitions);
	answering_start(messages);
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --json"), status, "%s",
		command_complaints);
	answering_stop();
}

#define INTENT(name, samples)                                                                      \
	"{'intent_name':'" name "','lang':'en','definition':{'samples':[" samples "]}}"

Test(ctl_new_skill, leaves_out_a_sample_that_no_template_can_say)
{
	run_with("{}", "[" INTENT("echo", "'say {1a}','','say {a} to {who}, {a}'") "]", CTL_DONE);
	expect_output("{\"name\":\"echo_a_who\",");
	expect_output("\"required\":[\"a\",\"who\"]");
	expect_output("\"utterances\":[\"say {a} to {who}, {a}\"]");
	cr_expect_null(strstr(command_output, "1a"));
}

Test(ctl_new_skill, takes_at_most_eight_sets_of_slots_of_an_intent)
{
	static const char *const names[] = {
		"a", "b", "c", "d", "e", "f", "g", "h", "i_is_one_too_many"};
	char samples[512] = "";
	char definitions[1024];
	size_t n = 0;

	for (size_t i = 0; i < 9; i++)
		snprintf(samples + strlen(samples), sizeof(samples) - strlen(samples),
			"%s'say it {%s}','say {%s}'", i > 0 ? "," : "", names[i], names[i]);
	snprintf(definitions, sizeof(definitions),
		"[{'intent_name':'y','lang':'de','definition':{'samples':['eins']}},"
		"{'intent_name':'x','lang':'EN-gb','definition':{'samples':[%s]}}]",
		samples);
	run_with("{}", definitions, CTL_DONE);
	for (const char *at = command_output; (at = strstr(at, "\"name\":")); at++)
		n++;
	cr_expect_eq(n, 8);
	expect_output("{\"name\":\"x_h\",");
	expect_output("\"utterances\":[\"say {h}\"]");
	cr_expect_null(strstr(command_output, "say it"), "the shortest sample of each set");
	cr_expect_null(strstr(command_output, "too_many"));
}

Test(ctl_new_skill, makes_plain_text_of_the_words_of_a_skill)
{
	run_with("{'f':{'help':'Read\\u0000 \\u001b[31mred\\u202e words \\u0022now\\u0022.',"
		 "'type':'a.b.f'},'ignore':{'type':7},'also':null}",
		"[]", CTL_DONE);
	expect_output("\\\"now\\\".\"");
	cr_expect_null(strchr(command_output, '\033'));
	cr_expect_null(strstr(command_output, "\342\200\256"));
	cr_expect_null(strstr(command_output, "ignore"));
	cr_expect_null(strstr(command_output, "also"));
}

Test(ctl_new_skill, refuses_a_skill_whose_function_is_a_topic_of_toolboxd)
{
	run_with("{'f':{'type':'ovos.tools.invoke'}}", "[]", CTL_ERROR);
	expect_complaint("the topic 'ovos.tools.invoke' is toolboxd's own");
	cr_expect_neq(access("a_b.json", F_OK), 0, "no file is left");
	run_with("{'f':{'type':'not a topic'}}", "[]", CTL_ERROR);
	expect_complaint("must be a topic");
	cr_expect_neq(access("a_b.json", F_OK), 0);
}

Test(ctl_new_skill, numbers_the_tools_that_would_have_one_name)
{
	char definitions[2048] = "[" INTENT("count", "'count'") "," INTENT(
		"say.n", "'say n'") "," INTENT("say", "'say {n}'");

	run_with("{'count':{'type':'a.b.count'},'count_2':{'type':'a.b.again'}}",
		strcat(definitions, "]"), CTL_DONE);
	expect_output("{\"name\":\"count\",\"description\":\"A function");
	expect_output("{\"name\":\"count_2\",\"description\":\"A function");
	expect_output("{\"name\":\"count_3\",\"description\":\"Say to the assistant: \\\"count");
	expect_output("{\"name\":\"say_n\",\"description\":\"Say to the assistant: \\\"say n");
	expect_output("{\"name\":\"say_n_2\",\"description\":\"Say to the assistant: \\\"say {n}");
}

Test(ctl_new_skill, makes_at_most_nine_tools_of_one_name)
{
	char definitions[2048] = "[";
	size_t n = 0;

	for (size_t i = 0; i < 12; i++)
		strcat(definitions, i > 0 ? "," INTENT("x", "'x'") : INTENT("x", "'x'"));
	run_with("{}", strcat(definitions, "]"), CTL_DONE);
	for (const char *at = command_output; (at = strstr(at, "\"name\":")); at++)
		n++;
	cr_expect_eq(n, 9);
	expect_output("{\"name\":\"x_9\",");
}

Test(ctl_new_skill, takes_only_rows_of_the_language_that_it_chose)
{
	run_with("{}",
		"[5,{'lang':7},{'lang':'de','intent_name':7,'definition':{'samples':['eins']}},"
		"{'lang':'de','intent_name':'zwei','definition':{'samples':['zwei']}},"
		"{'lang':'de-AT','intent_name':'drei','definition':{'samples':['drei']}},"
		"{'lang':'de','intent_name':'vier','definition':{'samples':'vier'}},"
		"{'lang':'de','intent_name':'acht','definition':{'samples':[8,'acht']}}]",
		CTL_DONE);
	expect_output("\"utterances\":[\"zwei\"],\"lang\":\"de\"");
	expect_output("\"utterances\":[\"acht\"]");
	cr_expect_null(strstr(command_output, "eins"));
	cr_expect_null(strstr(command_output, "drei"));
	cr_expect_null(strstr(command_output, "vier"));
}

Test(ctl_new_skill, shortens_names_and_reports_a_file_that_cannot_be_written)
{
	static const struct prepared messages[] = {ALIVE, NO_INTENTS,
		{"a.b.public_api",
			"{'a_name_of_a_function_that_goes_on_until_no_tool_can_be_called_so_any_"
			"more':"
			"{'type':'a.b.f'}}",
			NULL},
		{0}};

	answering_start(messages);
	scratch_write("file", "");
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --out file/x.json"), CTL_ERROR);
	expect_complaint("'file/x.json' cannot be written: ");
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --json"), CTL_DONE, "%s",
		command_complaints);
	expect_output(
		"{\"name\":\"a_name_of_a_function_that_goes_on_until_no_tool_can_be_ca_fddd87\",");
}

Test(ctl_new_skill, waits_for_a_skill_that_is_silent_no_longer_than_it_has_to)
{
	static const struct prepared messages[] = {ALIVE,
		{"ovos.intent.describe", "{'definitions':[" INTENT("count", "'count'") "]}", NULL},
		{0}};
	static const struct prepared silent[] = {ALIVE, {0}};

	answering_start(messages);
	cr_expect_eq(command_run(ctl_new, "new --from-skill a.b --json"), CTL_DONE, "%s",
		command_complaints);
	expect_output("{\"name\":\"count\",");
	answering_stop();
	answering_start(silent);
	cr_expect_eq(command_run(ctl_new, "new --from-skill c.d"), CTL_ERROR);
	expect_complaint("knows no samples of its intents (ovos-core 3 would)");
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

Test(ctl_new_skill, writes_indented_json_for_all_to_read)
{
	static const struct prepared messages[] = {ALIVE, NO_INTENTS,
		{"a.b.public_api", "{'add':{'help':'Add.','type':'a.b.add'}}", NULL}, {0}};
	char text[64] = "";
	struct stat status;
	FILE *file;

	umask(022);
	cr_assert_eq(mkdir("sub", 0700), 0);
	answering_start(messages);
	cr_assert_eq(command_run(ctl_new, "new --from-skill a.b --json --out sub/x.json"), CTL_DONE,
		"%s", command_complaints);
	cr_expect_eq(command_output[strlen(command_output) - 1], '\n');
	cr_assert_eq(stat("sub/x.json", &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0644);
	file = fopen("sub/x.json", "r");
	cr_assert(file);
	cr_expect_eq(fread(text, 1, 4, file), 4);
	cr_expect_str_eq(text, "{\n  ");
	cr_assert_eq(fseek(file, -3, SEEK_END), 0);
	cr_expect_eq(fread(text, 1, 3, file), 3);
	cr_expect_eq(memcmp(text, "\n}\n", 3), 0);
	fclose(file);
	expect_command(ctl_new, "new --from-skill a.b --out json", CTL_USAGE, "",
		"--out must be a file whose name ends in .json, not 'json'\n");
}
