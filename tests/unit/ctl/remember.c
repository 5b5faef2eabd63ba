/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "../scratch.h"
#include "answering.h"
#include "util/cleanup.h"

static void set_up(void)
{
	scratch_set_up();
	setenv("TZ", "UTC", 1);
	setenv("SUDO_USER", "alice", 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_remember, .init = set_up, .fini = tear_down, .timeout = 60);

#define STATUS "ovos.tools.status"
#define LIST   "ovos.tools.list"
#define RELOAD "ovos.tools.reload"

/* Start a service whose own files are low/toolboxd and high/toolboxd of the test's folder. */
static void start_with(const char *more)
{
	static struct prepared messages[4];
	static char status[512];

	snprintf(status, sizeof(status), "{'folders':['%s','%s']%s}", scratch_path("low/toolboxd"),
		scratch_path("high/toolboxd"), more);
	messages[0] = (struct prepared){STATUS, status, NULL};
	messages[1] = (struct prepared){RELOAD, "{'loaded':[],'total_tools':0}", NULL};
	messages[2] = (struct prepared){LIST,
		"{'tools':[{'toolbox_id':'clock','name':'time'},{'toolbox_id':'home','name':'on'}]"
		"}",
		NULL};
	answering_start(messages);
}

static void start(void)
{
	start_with(",'not_offered':[{'toolbox_id':'shell','name':'run','why':'its risk'}]");
}

/* Return the text of the file @name, "" without one. */
static const char *text_of(const char *name)
{
	static char text[2048];
	FILE *stream = fopen(scratch_path(name), "r");
	size_t size = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	if (stream)
		fclose(stream);
	text[size] = '\0';
	return text;
}

/* Expect that the output is @words and, in parentheses, the path of @file of the highest folder. */
static void expect_done(const char *line, const char *words, const char *file)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "%s (%s/%s)\n", words, scratch_path("high/toolboxd"),
		file);
	expect_command(ctl_remember, line, CTL_DONE, expected, "");
}

Test(ctl_remember, adds_and_takes_back_names_in_the_highest_folder)
{
	start();
	expect_done("allow clock/time", "clock/time is allowed", "allow.json");
	cr_expect_not_null(strstr(text_of("high/toolboxd/allow.json"),
				   "[\n  {\"name\":\"clock/time\",\"since\":\"20"),
		"%s", text_of("high/toolboxd/allow.json"));
	cr_expect_not_null(
		strstr(text_of("high/toolboxd/allow.json"), "\",\"by\":\"alice\"}\n]\n"));
	expect_done("disallow clock/time", "clock/time is not allowed", "allow.json");
	cr_expect_str_eq(text_of("high/toolboxd/allow.json"), "[]\n");
	expect_done("disable home/*", "home/* is disabled", "disabled.json");
	cr_expect_not_null(strstr(text_of("high/toolboxd/disabled.json"), "\"name\":\"home/*\""));
	expect_done("enable home/*", "home/* is not disabled", "disabled.json");
	cr_expect_str_empty(text_of("low/toolboxd/allow.json"));
}

Test(ctl_remember, enables_what_a_manifest_disables)
{
	start_with(",'not_offered':["
		   "{'toolbox_id':'shell','name':null,"
		   "'why':'disabled by its manifest; toolboxctl enable shell'},"
		   "{'toolbox_id':'home','name':'off',"
		   "'why':'disabled by its manifest; toolboxctl enable home/off'},"
		   "{'toolbox_id':'home','name':'dim','why':'left out by tools_disabled'}]");
	expect_done("disable home/on", "home/on is disabled", "disabled.json");
	cr_expect_eq(command_run(ctl_remember, "enable shell"), CTL_DONE);
	cr_expect_not_null(strstr(text_of("high/toolboxd/enabled.json"), "\"name\":\"shell\""));
	cr_expect_eq(command_run(ctl_remember, "enable home/off home/on"), CTL_DONE);
	cr_expect_not_null(strstr(text_of("high/toolboxd/enabled.json"), "\"name\":\"home/off\""));
	cr_expect_str_eq(text_of("high/toolboxd/disabled.json"), "[]\n");
	cr_expect_eq(command_run(ctl_remember, "enable home/dim"), CTL_ERROR, "by another reason");
	cr_expect_eq(command_run(ctl_remember, "disable home/off --for 1h"), CTL_DONE);
	cr_expect_not_null(strstr(text_of("high/toolboxd/disabled.json"), "\"until\""));
	cr_expect_eq(command_run(ctl_remember, "disable shell"), CTL_DONE);
	cr_expect_null(strstr(text_of("high/toolboxd/enabled.json"), "shell"));
	cr_expect_not_null(strstr(text_of("high/toolboxd/enabled.json"), "home/off"));
}

Test(ctl_remember, has_the_service_read_its_files)
{
	start();
	cr_expect_eq(command_run(ctl_remember, "allow clock/time home/on"), CTL_DONE);
	cr_expect_eq(
		strncmp(answering_requests(), STATUS " {}\n" RELOAD, strlen(STATUS " {}\n" RELOAD)),
		0, "%s", answering_requests());
}

Test(ctl_remember, changes_no_entry_that_is_as_wanted)
{
	struct stat before;
	struct stat after;

	start();
	cr_expect_eq(command_run(ctl_remember, "allow clock/time"), CTL_DONE);
	cr_assert_eq(stat(scratch_path("high/toolboxd/allow.json"), &before), 0);
	expect_done("allow clock/time", "clock/time is allowed", "allow.json");
	cr_assert_eq(stat(scratch_path("high/toolboxd/allow.json"), &after), 0);
	cr_expect_eq(after.st_ino, before.st_ino, "the file was replaced");
}

Test(ctl_remember, keeps_the_entries_of_others_and_their_members)
{
	static const char old[] = "[{'name':'a/x','since':'2026-01-01T00:00:00Z','by':'bob'},"
				  "{'name':'b/y','since':'2026-01-02T00:00:00Z','by':'eve',"
				  "'until':'2099-01-01T00:00:00Z'}]";

	scratch_write_json("high/toolboxd/disabled.json", old);
	start();
	cr_expect_eq(command_run(ctl_remember, "enable a/x"), CTL_DONE, "%s", command_complaints);
	cr_expect_str_eq(text_of("high/toolboxd/disabled.json"),
		"[\n  {\"name\":\"b/y\",\"since\":\"2026-01-02T00:00:00Z\",\"by\":\"eve\","
		"\"until\":\"2099-01-01T00:00:00Z\"}\n]\n");
}

Test(ctl_remember, disables_for_a_time)
{
	char until[32];
	time_t soon = time(NULL) + 600;
	bool has_until = false;

	start();
	cr_expect_eq(command_run(ctl_remember, "disable home/on --for 10m"), CTL_DONE);
	expect_output("home/on is disabled until ");
	for (time_t t = soon; t < soon + 30; t++) {
		strftime(until, sizeof(until), "\"until\":\"%Y-%m-%dT%H:%M:%SZ\"", gmtime(&t));
		has_until |= strstr(text_of("high/toolboxd/disabled.json"), until) != NULL;
	}
	cr_expect(has_until, "%s", text_of("high/toolboxd/disabled.json"));
	/* For good instead: another end. */
	cr_expect_eq(command_run(ctl_remember, "disable home/on"), CTL_DONE);
	cr_expect_null(strstr(text_of("high/toolboxd/disabled.json"), "until"));
}

Test(ctl_remember, names_what_a_name_without_an_entry_is_meant_by)
{
	static const struct {
		const char *line;
		const char *complaint;
	} cases[] = {
		{"disallow none", "none is not allowed here"},
		{"disallow clock/time", "clock/time is allowed by 'clock/*'; name that"},
		{"disallow low/tool", "low/tool is allowed by "},
		{"enable clock/time", "clock/time is not disabled here"},
	};

	scratch_write_json("high/toolboxd/allow.json",
		"[{'name':'clock/*','since':'2026-01-01T00:00:00Z','by':'bob'}]");
	scratch_write_json("low/toolboxd/allow.json",
		"[{'name':'low/tool','since':'2026-01-01T00:00:00Z','by':'bob'}]");
	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(command_run(ctl_remember, cases[i].line), CTL_ERROR);
		expect_complaint(cases[i].complaint);
		cr_expect_str_empty(command_output);
	}
	cr_expect_null(strstr(answering_requests(), RELOAD));
}

Test(ctl_remember, says_which_tools_are_still_not_offered)
{
	start();
	scratch_write_json("high/toolboxd/disabled.json",
		"[{'name':'shell/run','since':'2026-01-01T00:00:00Z','by':'bob'}]");
	cr_expect_eq(command_run(ctl_remember, "enable shell/run"), CTL_DONE);
	expect_complaint("shell/run is still not offered: its risk");
	cr_expect_eq(command_run(ctl_remember, "allow nothing/here"), CTL_DONE);
	expect_complaint("no tool is called 'nothing/here' now");
}

/* A service of others may send anything. */
Test(ctl_remember, stands_a_list_of_tools_that_lack_members)
{
	start_with(",'not_offered':[{'toolbox_id':'shell','name':'run'},{'toolbox_id':4},7,"
		   "['toolbox_id']]");
	scratch_write_json("high/toolboxd/disabled.json",
		"[{'name':'shell/run','since':'2026-01-01T00:00:00Z','by':'bob'}]");
	cr_expect_eq(command_run(ctl_remember, "enable shell/run"), CTL_DONE);
	expect_complaint("shell/run is still not offered: \n");
}

Test(ctl_remember, writes_to_no_folder_that_cannot_be_of_the_service)
{
	static const char *const folders[] = {"'/etc'", "'toolboxd'", "'/toolboxd'", "'/etc/x'",
		"'/a/../toolboxd'", "5", "null", "['/x/toolboxd']", "'/x/toolboxd/'",
		"'/x/nottoolboxd'"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		char status[128];
		const struct prepared messages[] = {
			{STATUS, status, NULL}, {RELOAD, "{}", NULL}, {0}};

		snprintf(status, sizeof(status), "{'folders':[%s]}", folders[i]);
		answering_start(messages);
		expect_command(ctl_remember, "allow x", CTL_ERROR, "",
			"the service has a folder that cannot be its own\n");
		answering_stop();
	}
}

Test(ctl_remember, needs_a_folder)
{
	static const char *const statuses[] = {"{}", "{'folders':[]}", "{'folders':{}}"};

	for (size_t i = 0; i < 3; i++) {
		const struct prepared messages[] = {{STATUS, statuses[i], NULL}, {0}};

		answering_start(messages);
		expect_command(ctl_remember, "allow x", CTL_ERROR, "",
			"the service has no folder for such files\n");
		answering_stop();
	}
}

Test(ctl_remember, replaces_no_file_that_it_cannot_read)
{
	static const char *const wrong[] = {"{", "5", "{}", "[5]", "[{'name':5}]", "['x']"};

	start();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cleanup_free char *json = quoted(wrong[i]);

		scratch_write("high/toolboxd/allow.json", json);
		cr_expect_eq(command_run(ctl_remember, "allow x"), CTL_ERROR, "%s", wrong[i]);
		expect_complaint("allow.json cannot be used: ");
		cr_expect_str_eq(text_of("high/toolboxd/allow.json"), json);
	}
	cr_assert_eq(unlink(scratch_path("high/toolboxd/allow.json")), 0);
	cr_assert_eq(mkdir(scratch_path("high/toolboxd/allow.json"), 0700), 0);
	cr_expect_eq(command_run(ctl_remember, "allow x"), CTL_ERROR);
	expect_complaint("allow.json cannot be read: Is a directory");
}

Test(ctl_remember, reports_what_the_service_cannot_use)
{
	static char status[256];
	static const struct prepared failing[] = {{STATUS, status, NULL},
		{RELOAD, "{'error':'not now','code':'busy'}", NULL},
		{RELOAD,
			"{'loaded':[],'total_tools':0,'configuration':[{'file':'/a','line':1,"
			"'error':'bad'}]}",
			NULL},
		{0}};

	snprintf(status, sizeof(status), "{'folders':['%s']}", scratch_path("toolboxd"));
	answering_start(failing);
	expect_command(ctl_remember, "allow x", CTL_ERROR, "", "not now\n");
	expect_command(ctl_remember, "allow y", CTL_ERROR, "", "/a:1: bad\n");
}

Test(ctl_remember, refuses_words_that_are_no_names)
{
	start();
	expect_command(ctl_remember, "allow a/b/c", CTL_USAGE, "",
		"'a/b/c' is no name of tools: TOOL, TOOLBOX/TOOL, with * for any characters\n");
	expect_command(ctl_remember, "disable x --for never", CTL_USAGE, "",
		"--for must be like 30s, 10m, 2h or 3d, not 'never'\n");
	cr_expect_str_empty(answering_requests());
}

/* ── approvals --allowed ─────────────────────────────────────────────────────────────────────── */

Test(ctl_remember, lists_the_tools_that_never_ask)
{
	scratch_write_json("low/toolboxd/allow.json",
		"[{'name':'a/x','since':'2026-01-01T00:00:00Z','by':'bob'}]");
	scratch_write_json("high/toolboxd/allow.json",
		"[{'name':'b/y','since':'2026-01-02T10:20:30Z','by':'eve'}]");
	start_with(",'approval':{'allow':['clock/*',7]}");
	expect_command(ctl_approvals, "approvals --allowed", CTL_DONE,
		"TOOLS    SINCE             BY\n"
		"clock/*                    approval.allow\n"
		"a/x      2026-01-01 00:00  bob\n"
		"b/y      2026-01-02 10:20  eve\n",
		"");
	expect_command(ctl_approvals, "approvals --allowed --json", CTL_DONE,
		"{\"allowed\":[{\"name\":\"clock/*\",\"since\":null,\"by\":null},"
		"{\"name\":\"a/x\",\"since\":\"2026-01-01T00:00:00Z\",\"by\":\"bob\"},"
		"{\"name\":\"b/y\",\"since\":\"2026-01-02T10:20:30Z\",\"by\":\"eve\"}]}\n",
		"");
}

Test(ctl_remember, says_that_all_tools_ask)
{
	start();
	expect_command(ctl_approvals, "approvals --allowed", CTL_DONE, "",
		"no tool is allowed: all ask whose risk does (approval.mode)\n");
	expect_command(
		ctl_approvals, "approvals --allowed --json", CTL_DONE, "{\"allowed\":[]}\n", "");
}
