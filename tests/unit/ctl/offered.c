/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/add/offered.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "answering.h"
#include "util/cleanup.h"

/* The output of `add` and `remove` after the service has reloaded. JSON is written with ' in place
 * of ", and @ in place of the user's registration folder. */

#define RELOAD "ovos.tools.reload"
#define STATUS "ovos.tools.status"
#define LIST   "ovos.tools.list"

#define DONE "{'loaded':['words'],'total_tools':1,'failed':[]}"
#define BOX  "{'toolbox_id':'words','file':'@/words.json'}"

static void set_up(void)
{
	scratch_set_up();
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("XDG_DATA_HOME", scratch_path("data"), 1);
	setenv("STATE_DIRECTORY", scratch_path("state"), 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_offered, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return @text with the folder in place of each @. The caller frees it. */
static char *in_folder(const char *text)
{
	struct buffer out = {0};

	for (; *text; text++)
		if (*text == '@')
			buffer_append_string(&out, scratch_path("data/toolboxd/toolbox.d"));
		else
			buffer_append_char(&out, *text);
	return buffer_take(&out, NULL);
}

/* Start a service with these responses; @list may be NULL. */
static void start(const char *reload, const char *status, const char *list)
{
	static struct prepared messages[4];

	messages[0] = (struct prepared){RELOAD, in_folder(reload), NULL};
	messages[1] = (struct prepared){STATUS, in_folder(status), NULL};
	if (list)
		messages[2] = (struct prepared){LIST, in_folder(list), NULL};
	answering_stop();
	answering_start(messages);
	for (size_t i = 0; i < 3; i++)
		free((char *)messages[i].data);
	memset(messages, 0, sizeof(messages));
}

/* `report NAME…`: report these registrations. */
static int report(const struct ctl_options *options)
{
	struct text_list names = {0};
	struct added added;
	int r = added_open(false, &added);

	for (size_t i = 1; i < options->n_positional; i++)
		cr_assert_eq(text_list_add(&names, options->positional[i]), 0);
	r = r ? r : offered_report(options, &added, &names);
	text_list_deinit(&names);
	added_close(&added);
	return r;
}

/* `rest ID`. */
static int report_rest(const struct ctl_options *options)
{
	return offered_report_rest(options, options->positional[1]);
}

/* Run @command, and expect a status, an output, and complaints, with @ for the folder. */
static void expect_report(command_function command, const char *line, int status,
	const char *output, const char *complaints)
{
	cleanup_free char *expected = in_folder(complaints);

	expect_command(command, line, status, output, expected);
}

/* ── what is offered ─────────────────────────────────────────────────────────────────────────── */

Test(ctl_offered, prints_the_tools_of_the_file)
{
	static const struct {
		const char *list;
		const char *output;
	} cases[] = {
		{"{'tools':[{'name':'say'}]}", "words: 1 tool: say\n"},
		{"{'tools':[{'name':'say'},{'name':'tell'}]}", "words: 2 tools: say, tell\n"},
		{"{'tools':[]}", "words: 0 tools\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(DONE, "{'toolboxes':[" BOX "]}", cases[i].list);
		expect_report(report, "report words.json", CTL_DONE, cases[i].output, "");
		cr_expect_str_eq(answering_requests(),
			RELOAD " {}\n" STATUS " {}\n" LIST " {'toolbox_id':'words'}\n");
	}
}

/* The path decides, and neither the id nor a path that begins alike. */
Test(ctl_offered, knows_the_toolboxes_of_a_registration_by_their_file)
{
	static const struct {
		const char *name;
		const char *file;
		bool is_its_own;
	} cases[] = {
		{"words.json", "@/words.json", true},
		{"words.json", "@/words.json2", false},
		{"words.json", "@/words", false},
		{"words.json", "/elsewhere/words.json", false},
		{"words", "@/words", true},
		{"words", "@/words/words.json", true},
		{"words", "@/words/below/say", true},
		{"words", "@/words2/words.json", false},
		{"words", "@/words.json", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char status[256];
		char line[64];

		snprintf(status, sizeof(status),
			"{'toolboxes':[5,{'file':7,'toolbox_id':'words'},{'file':'%s'},"
			"{'toolbox_id':'words','file':'%s'}]}",
			cases[i].file, cases[i].file);
		snprintf(line, sizeof(line), "report %s", cases[i].name);
		start(DONE, status, "{'tools':[{'name':'say'}]}");
		cr_expect_eq(command_run(report, line), cases[i].is_its_own ? CTL_DONE : CTL_ERROR,
			"%s: %s", line, cases[i].file);
		cr_expect_str_eq(command_output, cases[i].is_its_own ? "words: 1 tool: say\n" : "");
	}
}

Test(ctl_offered, prints_all_toolboxes_of_a_folder)
{
	start(DONE,
		"{'toolboxes':[{'toolbox_id':'one','file':'@/words/one.json'},"
		"{'toolbox_id':'other','file':'@/other.json'},"
		"{'toolbox_id':'two','file':'@/words/two.json'}]}",
		"{'tools':[{'name':'say'}]}");
	expect_report(report, "report words", CTL_DONE, "one: 1 tool: say\ntwo: 1 tool: say\n", "");
}

Test(ctl_offered, prints_the_reload_alone_as_json)
{
	start("{'loaded':['words'],'asked':['asked']}", "{'toolboxes':[" BOX "]}",
		"{'tools':[{'name':'say'}]}");
	expect_report(report, "report --json words.json asked.json", CTL_DONE,
		"{\"loaded\":[\"words\"],\"asked\":[\"asked\"]}\n", "");
}

Test(ctl_offered, tells_of_a_server_that_is_still_asked)
{
	start("{'loaded':[],'asked':[5,'word','words']}", "{'toolboxes':[]}", NULL);
	expect_report(report, "report words.json", CTL_DONE,
		"words: its server is still asked for its tools, which are offered as it "
		"answers\n",
		"");
}

/* ── what is not ─────────────────────────────────────────────────────────────────────────────── */

#define NOT_LOOKED_AT(name)                                                                        \
	"@/" name " is there, but the service does not look in @: it is another user's, or has "   \
	"other folders (toolbox_dirs); for all users of the device, put it into "                  \
	"/etc/toolboxd/toolbox.d\n"

Test(ctl_offered, says_why_a_registration_is_not_offered)
{
	static const struct {
		const char *status;
		const char *complaints;
	} cases[] = {
		{"{'failed':[{'file':'@/words.json','error':'it is bad'},"
		 "{'file':'@/words.json','error':'twice'},"
		 "{'file':'@/other.json','error':'not this one'}]}",
			"it is bad\ntwice\n"},
		{"{'failed':[{'file':'@/words.json'}]}", "@/words.json\n"},
		/* An earlier version may be offered on: yet the registration has failed. */
		{"{'failed':[{'file':'@/words.json','error':'it is bad'}],'not_offered':["
		 "{'toolbox_id':'words','why':'later'}]}",
			"it is bad\n"},
		{"{'not_offered':[{'toolbox_id':'word','why':'x'},{'toolbox_id':'words',"
		 "'why':'the operator says so'}]}",
			"words is not offered: the operator says so\n"},
		{"{'not_offered':[{'toolbox_id':'words'}]}", "words is not offered: \n"},
		{"{'toolboxes':[],'failed':[],'not_offered':[]}", NOT_LOOKED_AT("words.json")},
		{"{}", NOT_LOOKED_AT("words.json")},
		{"{'toolboxes':{},'failed':5,'not_offered':'x'}", NOT_LOOKED_AT("words.json")},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(DONE, cases[i].status, NULL);
		expect_report(report, "report words.json", CTL_ERROR, "", cases[i].complaints);
	}
}

Test(ctl_offered, tells_of_an_earlier_version_and_of_the_failure)
{
	start(DONE,
		"{'toolboxes':[" BOX "],'failed':[{'file':'@/words.json','error':'it is bad'}]}",
		"{'tools':[{'name':'say'}]}");
	expect_report(
		report, "report words.json", CTL_ERROR, "words: 1 tool: say\n", "it is bad\n");
}

/* The first failure is the exit status, and each failure has a complaint. */
Test(ctl_offered, tells_of_each_registration_whatever_the_first_came_to)
{
	start(DONE, "{'toolboxes':[" BOX "]}", "{'tools':[{'name':'say'}]}");
	expect_report(report, "report absent.json words.json", CTL_ERROR, "words: 1 tool: say\n",
		NOT_LOOKED_AT("absent.json"));
	start(DONE, "{'toolboxes':[" BOX "]}", "{'tools':[{'name':'say'}]}");
	expect_report(report, "report words.json absent.json", CTL_ERROR, "words: 1 tool: say\n",
		NOT_LOOKED_AT("absent.json"));
}

Test(ctl_offered, tells_nothing_of_tools_after_a_reload_that_failed)
{
	start("{'error':'RuntimeError: The service is busy','code':'busy'}",
		"{'toolboxes':[" BOX "]}", "{'tools':[{'name':'say'}]}");
	cr_expect_eq(command_run(report, "report words.json"), CTL_ERROR);
	expect_complaint("The service is busy");
	cr_expect_str_empty(command_output);
	cr_expect_str_eq(answering_requests(), RELOAD " {}\n");
}

Test(ctl_offered, tells_nothing_of_tools_after_a_configuration_with_mistakes)
{
	start("{'loaded':[],'configuration':[{'severity':'error','file':'mycroft.conf','line':3,"
	      "'path':'/toolboxd','error':'must be an object'}]}",
		"{'toolboxes':[" BOX "]}", "{'tools':[{'name':'say'}]}");
	cr_expect_eq(command_run(report, "report words.json"), CTL_ERROR, "%s", command_output);
	expect_complaint("must be an object");
	cr_expect_str_empty(command_output);
}

Test(ctl_offered, has_put_it_there_without_a_service)
{
	char *words =
		in_folder("it is in @, and will be offered once a service runs that looks there\n");

	cr_expect_eq(
		command_run(report, "report --bus=ws://127.0.0.1:1/core words.json"), CTL_NO_BUS);
	expect_complaint(words);
	cr_expect_str_empty(command_output);
	free(words);
}

/* ── after a removal ─────────────────────────────────────────────────────────────────────────── */

Test(ctl_offered, names_the_file_that_has_the_id_after_a_removal)
{
	static const struct {
		const char *status;
		const char *complaints;
	} cases[] = {
		{"{'toolboxes':[{'toolbox_id':'words','file':'/etc/words.json'},"
		 "{'toolbox_id':'word','file':'/etc/word.json'}]}",
			"words is offered from /etc/words.json now\n"},
		{"{'toolboxes':[{'toolbox_id':'words'}]}", ""},
		{"{'toolboxes':[]}", ""},
		{"{}", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(DONE, cases[i].status, NULL);
		expect_report(report_rest, "rest words", CTL_DONE, "", cases[i].complaints);
		cr_expect_str_eq(answering_requests(), RELOAD " {}\n" STATUS " {}\n");
	}
	start("{'loaded':[]}", cases[0].status, NULL);
	cr_expect_eq(command_run(report_rest, "rest --json words"), CTL_DONE);
	cr_expect_str_eq(command_output, "{\"loaded\":[]}\n");
}
