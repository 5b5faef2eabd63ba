/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/profiles.h"
#include "config_fixture.h"
#include "util/array.h"
#include "util/environment.h"

TestSuite(config, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

/* --- defaults */

Test(config, without_any_file_is_all_defaults)
{
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_bus("ws://127.0.0.1:8181/core");
	cr_expect_eq(config.duplicate_names, CONFIG_DUPLICATES_ERROR);
	cr_expect_eq(config.approval_mode, APPROVAL_EXECUTE);
	cr_expect_eq(config.approval_timeout_ms, 30000);
	cr_expect_eq(config.result_max_chars, 20000);
	cr_expect_eq(config.timeout_ms, 0);
	cr_expect_eq(config.start_timeout_ms, 10000);
	cr_expect_eq(config.idle_s, 60);
	cr_expect_eq(config.drain_ms, 2000);
	cr_expect_eq(config.crash_limit, 5);
	cr_expect_eq(config.crash_window_s, 60);
	cr_expect_not(config.events_calls);
	cr_expect_not(config.events_arguments || config.events_results);
	cr_expect_eq(config.log_level, LOG_LEVEL_INFO);
	cr_expect_eq(config.log_format, LOG_FORMAT_TEXT);
	cr_expect_eq(config.tools_enabled.n_items, 0);
	cr_expect_eq(config.tools_disabled.n_items, 0);
	cr_expect(config_toolbox_is_enabled(&config, "any"));
	cr_expect_str_eq(buffer_terminate(&config.merged), "{\"toolboxd\":{},\"websocket\":{}}");
}

Test(config, has_the_documented_limits)
{
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.limits.frame_bytes, 10u << 20);
	cr_expect_eq(config.limits.args_bytes, 4u << 20);
	cr_expect_eq(config.limits.depth, 128);
	cr_expect_eq(config.limits.in_flight, 1024);
	cr_expect_eq(config.limits.queue, 256);
	cr_expect_eq(config.limits.output_queue_bytes, 64u << 20);
	cr_expect_eq(config.limits.host_output_bytes, 8u << 20);
	cr_expect_eq(config.limits.stderr_bytes, 8u << 10);
	cr_expect_eq(config.limits.pending_approvals, 64);
	cr_expect_eq(config.limits.tools, 10000);
	cr_expect_eq(config.limits.toolboxes, 1000);
	cr_expect_eq(config.limits.pattern_steps, 100000);
	cr_expect_eq(config.limits.check_ms, 20);
}

Test(config, looks_for_toolboxes_in_three_folders)
{
	cr_assert_eq(read_all(), 0);
	cr_assert_eq(config.toolbox_dirs.n_items, 3);
	cr_expect_not(config.has_toolbox_dirs);
	cr_expect(strstr(config.toolbox_dirs.items[0], "toolbox.d"));
	cr_expect_str_eq(config.toolbox_dirs.items[1], "/etc/toolboxd/toolbox.d");
	cr_expect_str_eq(
		config.toolbox_dirs.items[2], in_folder("home/.local/share/toolboxd/toolbox.d"));
	setenv("XDG_DATA_HOME", "/data", 1);
	cr_assert_eq(read_all(), 0);
	cr_expect_str_eq(config.toolbox_dirs.items[2], "/data/toolboxd/toolbox.d");
}

/* --- every key */

Test(config, reads_every_key)
{
	write_user_file(
		"{\"toolboxd\": {\"toolbox_dirs\": [\"/a\", \" /b \", \"\"],"
		"\"tools_enabled\": [\"add\"], \"tools_disabled\": [\"x/*\", \"sub\"],"
		"\"duplicate_names\": \"last\", \"approval\": {\"mode\": \"strict\","
		"\"allow\": [\"a/b\"], \"timeout_ms\": 1}, \"result_max_chars\": 2,"
		"\"timeout_ms\": 3, \"start_timeout_ms\": 4, \"idle_s\": 0, \"drain_ms\": 0,"
		"\"crash_limit\": 0, \"crash_window_s\": 6, \"embedded\": {\"origins\": "
		"[\"https://a\"]}, \"events\": {\"calls\": true,"
		"\"arguments\": true, \"results\": true}, \"log\": {\"level\": \"warning\", "
		"\"format\": \"json\"},"
		"\"toolboxes\": {\"a\": {\"enabled\": false}, \"b\": {\"own\": [1]}}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_str_eq(buffer_terminate(&told),
		"warning mycroft.conf:1 /toolboxd/tools_disabled: is "
		"ignored, since tools_enabled is set\n");
	expect_list(&config.toolbox_dirs, "/a,/b");
	expect_list(&config.tools_enabled, "add");
	expect_list(&config.tools_disabled, "x/*,sub");
	expect_list(&config.approval_allow, "a/b");
	expect_list(&config.embedded_origins, "https://a");
	cr_expect_eq(config.duplicate_names, CONFIG_DUPLICATES_LAST);
	cr_expect_eq(config.approval_mode, APPROVAL_STRICT);
	cr_expect_eq(config.approval_timeout_ms, 1);
	cr_expect_eq(config.result_max_chars, 2);
	cr_expect_eq(config.timeout_ms, 3);
	cr_expect_eq(config.start_timeout_ms, 4);
	cr_expect_eq(config.idle_s, 0);
	cr_expect_eq(config.drain_ms, 0);
	cr_expect_eq(config.crash_limit, 0);
	cr_expect_eq(config.crash_window_s, 6);
	cr_expect(config.events_calls && config.events_arguments && config.events_results);
	cr_expect_eq(config.log_level, LOG_LEVEL_WARNING);
	cr_expect_eq(config.log_format, LOG_FORMAT_JSON);
	cr_expect_not(config_toolbox_is_enabled(&config, "a"));
	cr_expect(config_toolbox_is_enabled(&config, "b"));
}

Test(config, reads_every_limit)
{
	write_user_file(
		"{\"toolboxd\": {\"limits\": {\"frame_bytes\": 1024, \"args_bytes\": 2,"
		"\"depth\": 3, \"in_flight\": 4, \"queue\": 5, \"output_queue_bytes\": 6000,"
		"\"host_output_bytes\": 7000, \"stderr_bytes\": 8, \"pending_approvals\": 9,"
		"\"tools\": 10, \"toolboxes\": 11, \"pattern_steps\": 12, "
		"\"check_ms\": 13}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_eq(config.limits.frame_bytes, 1024);
	cr_expect_eq(config.limits.args_bytes, 2);
	cr_expect_eq(config.limits.depth, 3);
	cr_expect_eq(config.limits.in_flight, 4);
	cr_expect_eq(config.limits.queue, 5);
	cr_expect_eq(config.limits.output_queue_bytes, 6000);
	cr_expect_eq(config.limits.host_output_bytes, 7000);
	cr_expect_eq(config.limits.stderr_bytes, 8);
	cr_expect_eq(config.limits.pending_approvals, 9);
	cr_expect_eq(config.limits.tools, 10);
	cr_expect_eq(config.limits.toolboxes, 11);
	cr_expect_eq(config.limits.pattern_steps, 12);
	cr_expect_eq(config.limits.check_ms, 13);
}

Test(config, takes_a_whole_number_in_any_spelling)
{
	write_user_file("{\"toolboxd\": {\"timeout_ms\": 1.5e3, \"idle_s\": 7.0}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_eq(config.timeout_ms, 1500);
	cr_expect_eq(config.idle_s, 7);
}

/* --- what is wrong */

Test(config, tells_file_line_and_path_of_a_wrong_value)
{
	write_file("system.conf", "{\"toolboxd\":\n{\"limits\":\n{\"depth\": \"deep\"}}}");
	write_user_file("{\n#\n\"toolboxd\": {\n//\n\"idle_s\": -1}}");
	cr_assert_eq(read_all(), 0);
	expect_told("error system.conf:3 /toolboxd/limits/depth: must be an integer from 1 to "
		    "512 or null, not the string \"deep\"; it is not used");
	expect_told(
		"error mycroft.conf:5 /toolboxd/idle_s: must be an integer from 0 to 86400 or null,"
		" not the number -1; it is not used");
	cr_expect_eq(config.limits.depth, 128);
	cr_expect_eq(config.idle_s, 60);
}

Test(config, uses_the_default_where_a_value_has_the_wrong_type)
{
	write_user_file("{\"toolboxd\": {\"duplicate_names\": 1, \"log\": {\"level\": \"loud\"},"
			"\"events\": {\"calls\": \"yes\"}, \"limits\": [], \"timeout_ms\": 2.5}}");
	cr_assert_eq(read_all(), 0);
	expect_told("/toolboxd/duplicate_names: must be one of \"error\", \"last\", null, not the "
		    "number 1");
	expect_told(
		"/toolboxd/log/level: must be one of \"debug\", \"info\", \"warning\", \"error\"");
	expect_told(
		"/toolboxd/events/calls: must be a boolean or null, not the string \"yes\"; it is"
		" not used");
	expect_told("/toolboxd/limits: must be an object or null, not an empty array");
	expect_told("/toolboxd/timeout_ms: must be an integer from 1");
	cr_expect_eq(config.timeout_ms, 0);
	cr_expect_null(config.closed);
}

Test(config, uses_the_defaults_where_its_section_is_no_object)
{
	write_user_file("{\"toolboxd\": [\"idle_s\", 7, \"limits\", {\"depth\": 3}]}");
	cr_assert_eq(read_all(), 0);
	expect_told("/toolboxd: must be an object or null, not ");
	cr_expect_eq(strchr(told.data, '\n'), told.data + told.size - 1, "%s", told.data);
	cr_expect_eq(config.idle_s, 60);
	cr_expect_eq(config.limits.depth, 128);
}

Test(config, shows_no_more_than_the_beginning_of_a_long_value)
{
	write_user_file("{\"toolboxd\": {\"idle_s\": [\"ääääääääääääääääääääääääääääääääääääääääää"
			"äääääääääääääääääääääääääääää\"]}}");
	cr_assert_eq(read_all(), 0);
	expect_told("ä…; it is not used");
}

Test(config, means_the_default_by_a_bad_result_max_chars_and_only_warns)
{
	write_user_file("{\"toolboxd\": {\"result_max_chars\": 0}}");
	cr_assert_eq(read_all(), 0);
	expect_told("warning mycroft.conf:1 /toolboxd/result_max_chars: ");
	cr_expect_eq(config.result_max_chars, 20000);
}

Test(config, warns_of_parts_of_events_that_nobody_gets)
{
	write_user_file("{\"toolboxd\": {\"events\": {\"results\": true}}}");
	cr_assert_eq(read_all(), 0);
	expect_told("warning mycroft.conf:1 /toolboxd/events/results: counts only while a client "
		    "watches, "
		    "since events.calls is not true\n");
}

Test(config, warns_of_an_unknown_key_and_names_a_near_one)
{
	write_user_file("{\"toolboxd\": {\"timeuot_ms\": 1, \"limits\": {\"dept\": 1}, \"q\": 1}}");
	cr_assert_eq(read_all(), 0);
	expect_told("warning mycroft.conf:1 /toolboxd/timeuot_ms: unexpected property "
		    "'timeuot_ms'; did you mean "
		    "'timeout_ms'?");
	expect_told("/toolboxd/limits/dept: unexpected property 'dept'; did you mean 'depth'?");
	expect_told("/toolboxd/q: unexpected property 'q'\n");
}

Test(config, takes_no_guests_unless_they_are_enabled)
{
	write_user_file("{}");
	cr_assert_eq(read_all(), 0);
	cr_expect(!config.guests.is_enabled && config.guests.max == 32);
	cr_expect(config.guests.tools == 256 && config.guests.risk == TOOL_EXECUTE);
	write_user_file("{\"toolboxd\": {\"guests\": {\"enabled\": true, \"max\": 1, \"tools\": 2,"
			" \"risk\": \"write\"}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect(config.guests.is_enabled && config.guests.max == 1);
	cr_expect(config.guests.tools == 2 && config.guests.risk == TOOL_WRITE);
}

/* A mistake may hide a bound. */
Test(config, is_closed_by_a_mistake_about_guests)
{
	static const char *const mistakes[] = {
		"'enabled': 1", "'max': 0", "'tools': 10001", "'risk': 'unrated'", "'more': 1"};

	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{'toolboxd': {'guests': {%s}}}", mistakes[i]);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		write_user_file(text);
		cr_assert_eq(read_all(), 0);
		cr_expect(config.closed, "%s", mistakes[i]);
	}
}

#define TOOL_SETTING(member)                                                                       \
	"{\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {" member "}}}}}}"

static const char *const unguessed[] = {
	"{\"toolboxd\": {\"tools_enabled\": \"add\"}}",
	"{\"toolboxd\": {\"tools_enabled\": [1]}}",
	"{\"toolboxd\": {\"tools_disabled\": {}}}",
	"{\"toolboxd\": {\"approval\": {\"mode\": \"strikt\"}}}",
	"{\"toolboxd\": {\"toolboxes\": {\"a\": {\"enabled\": 0}}}}",
	"{\"toolboxd\": {\"sandbox_max\": \"compute \"}}",
	"{\"toolboxd\": []}",
	"{\"toolboxd\": {\"toolbox_dirs\": \"/x\"}}",
	"{\"toolboxd\": {\"tools_disabled\": [\"a\\u0000\"]}}",
	"{\"toolboxd\": {\"approval\": []}}",
	"{\"toolboxd\": {\"approval\": {\"allow\": \"a\"}}}",
	"{\"toolboxd\": {\"approval\": {\"answer_sources\": \"a\"}}}",
	"{\"toolboxd\": {\"approval\": {\"answer_sources\": [1]}}}",
	"{\"toolboxd\": {\"approval\": {\"key_file\": 1}}}",
	"{\"toolboxd\": {\"approval\": {\"key_file\": \"a\\u0000\"}}}",
	"{\"toolboxd\": {\"embedded\": \"https://a\"}}",
	"{\"toolboxd\": {\"embedded\": {\"origins\": \"https://a\"}}}",
	"{\"toolboxd\": {\"toolboxes\": []}}",
	"{\"toolboxd\": {\"toolboxes\": {\"a\": 1}}}",
	"{\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": []}}}}",
	"{\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": true}}}}}",
	TOOL_SETTING("\"risk\": \"unrated\""),
	TOOL_SETTING("\"risk\": 1"),
	TOOL_SETTING("\"enabled\": \"no\""),
	TOOL_SETTING("\"timeout_ms\": 0"),
	TOOL_SETTING("\"timeout_ms\": 86400001"),
	TOOL_SETTING("\"cooldown_s\": -1"),
	TOOL_SETTING("\"cooldown_s\": 1.5"),
	TOOL_SETTING("\"parallel\": 1"),
	TOOL_SETTING("\"description\": [\"a\"]"),
	TOOL_SETTING("\"description\": \"a\\u0000\""),
	TOOL_SETTING("\"description\": \"\\n\\u0000\""),
	TOOL_SETTING("\"description\": \"\\\\\\u0000\""),
	TOOL_SETTING("\"triggers\": \"a\""),
	TOOL_SETTING("\"triggers\": [1]"),
};

Test(config, closes_for_a_key_of_a_tool_that_it_does_not_know)
{
	write_user_file(TOOL_SETTING("\"rsik\": \"execute\""));
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed);
	expect_told("/toolboxd/toolboxes/a/tools/b/rsik: unexpected property 'rsik'; did you mean "
		    "'risk'?");
}

Test(config, closes_for_a_trigger_that_is_no_pattern)
{
	write_user_file(TOOL_SETTING("\"triggers\": [\"good\", \"(\"]"));
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed);
	expect_told("/toolboxd/toolboxes/a/tools/b/triggers/1: ");
}

Test(config, reads_the_settings_of_tools)
{
	const struct config_toolbox *toolbox;
	const struct config_tool *tool;

	write_user_file("{\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {"
			"\"z\": {\"enabled\": false},"
			"\"b\": {\"risk\": \"execute\", \"timeout_ms\": 7, \"cooldown_s\": 3,"
			" \"parallel\": false, \"description\": \"words\","
			" \"triggers\": [\"one\", \"t.o\"]},"
			"\"n\": {\"risk\": null}, \"gone\": null}}}}}");
	cr_assert_eq(read_all(), 0);
	cr_assert_null(config.closed, "%s", config.closed);
	toolbox = config_toolbox_find(&config, "a");
	cr_assert(toolbox && toolbox->tools.n_items == 3);
	tool = config_tool_find(toolbox, "b");
	cr_assert(tool);
	cr_expect(tool->is_enabled && tool->risk == TOOL_EXECUTE && tool->timeout_ms == 7);
	cr_expect(tool->has_cooldown && tool->cooldown_s == 3);
	cr_expect(tool->has_parallel && !tool->is_parallel);
	cr_expect_str_eq(tool->description, "words");
	cr_assert(tool->has_triggers && tool->triggers.n_items == 2);
	cr_expect_str_eq(tool->triggers.items[1], "t.o");
	tool = config_tool_find(toolbox, "z");
	cr_expect(tool && !tool->is_enabled && !tool->has_parallel && !tool->description);
	tool = config_tool_find(toolbox, "n");
	cr_expect(tool && tool->is_enabled && tool->risk == TOOL_UNRATED);
	cr_expect_null(config_tool_find(toolbox, "gone"));
	cr_expect_null(config_tool_find(config_toolbox_find(&config, "q"), "b"));
}

Test(config, does_not_guess_what_may_be_called)
{
	for (size_t i = 0; i < sizeof(unguessed) / sizeof(*unguessed); i++) {
		write_user_file(unguessed[i]);
		cr_expect_eq(read_all(), 0, "%s", unguessed[i]);
		cr_expect(config.closed, "%s", unguessed[i]);
		expect_told("it decides which calls are allowed");
	}
}

static const char *const misspelt[][2] = {
	{"\"approval\": {\"mod\": 1}",
		"/approval/mod: unexpected property 'mod'; did you mean 'mode'? It "
		"may be meant to restrict calls"},
	{"\"audit\": {\"flie\": 1}",
		"/audit/flie: unexpected property 'flie'; did you mean 'file'?"},
	{"\"embedded\": {\"origin\": []}", "/embedded/origin: unexpected property"},
	{"\"embedded\": {\"x\": []}",
		"/embedded/x: unexpected property 'x'; the object takes 'origins', 'token_file', "
		"'stall_s'. It may be meant"},
	{"\"profiles\": {\"guest\": {\"x\": []}}", "/profiles/guest/x: unexpected property 'x'; "
						   "the object takes 'tool_names'. It may"},
	{"\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"xyz\": 1}}}}",
		"/a/tools/b/xyz: unexpected property 'xyz'; the object takes "},
	{"\"aproval\": {}", "/toolboxd/aproval: unexpected property 'aproval'; did you mean "
			    "'approval'? It may be meant"},
	{"\"acess\": []", "/toolboxd/acess: unexpected property"},
	{"\"profile\": {}", "/toolboxd/profile: unexpected property"},
	{"\"caller\": []", "/toolboxd/caller: unexpected property"},
	{"\"adit\": {}", "/toolboxd/adit: unexpected property"},
	{"\"guest\": {}", "/toolboxd/guest: unexpected property"},
	{"\"htpt\": {}", "/toolboxd/htpt: unexpected property"},
	{"\"toolbox\": {}", "/toolboxd/toolbox: unexpected property"},
	{"\"tool_disabled\": []", "/toolboxd/tool_disabled: unexpected property"},
	{"\"TOOLS_ENABLED\": []", "/toolboxd/TOOLS_ENABLED: unexpected property"},
	{"\"sandbox-max\": \"net\"", "/toolboxd/sandbox-max: unexpected property"},
};

Test(config, is_closed_by_a_key_that_may_be_meant_to_restrict_calls)
{
	for (size_t i = 0; i < sizeof(misspelt) / sizeof(*misspelt); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{\"toolboxd\": {%s}}", misspelt[i][0]);
		write_user_file(text);
		cr_expect_eq(read_all(), 0, "%s", text);
		cr_expect(config.closed && strstr(config.closed, misspelt[i][1]), "%s: %s", text,
			config.closed);
		expect_told(misspelt[i][1]);
	}
}

Test(config, keeps_the_first_mistake_that_closes_it)
{
	write_user_file("{\"toolboxd\": {\n\"idle_s\": -1,\n\"sandbox_max\": 1, \"access\": 5}}");
	cr_assert_eq(read_all(), 0);
	cr_assert(config.closed);
	cr_expect(strstr(config.closed, "mycroft.conf:3 /toolboxd/"), "%s", config.closed);
	write_user_file("{}");
	cr_assert_eq(read_all(), 0);
	cr_expect_null(config.closed);
}

Test(config, knows_whether_only_a_start_reads_what_has_changed)
{
	uint64_t digest;

	write_user_file("{\"toolboxd\": {\"idle_s\": 1, \"limits\": {\"depth\": 9}}}");
	cr_assert_eq(read_all(), 0);
	digest = config.start_digest;
	write_user_file("{\"toolboxd\": {\"idle_s\": 2, \"limits\":  {\"depth\": 9}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.start_digest, digest);
	write_user_file("{\"toolboxd\": {\"limits\": {\"depth\": 8}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_neq(config.start_digest, digest);
	write_user_file("{\"toolboxd\": {\"limits\": {\"depth\": 9}, \"embedded\": {}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.start_digest, digest);
	write_user_file("{\"toolboxd\": {\"limits\": {\"depth\": 9}, \"embedded\": {"
			"\"stall_s\": 9}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_neq(config.start_digest, digest);
	setenv("TOOLBOXD_BUS", "ws://127.0.0.1:9/", 1);
	write_user_file("{\"toolboxd\": {\"limits\": {\"depth\": 9}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_neq(config.start_digest, digest);
}

/* A program without the token of a misspelled section must not be let in. */
Test(config, keeps_the_bus_closed_where_a_key_may_be_its_section)
{
	static const char *const keys[] = {"embexxed", "embedde", "mbeddedd", "Embedded"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"toolboxd\": {\"%s\": {}}}", keys[i]);
		write_user_file(text);
		cr_assert_eq(read_all(), 0);
		cr_expect_str_eq(config.embedded_token, BUS_TOKEN_UNKNOWN, "%s", keys[i]);
	}
	write_user_file("{\"toolboxd\": {\"embexxxd\": {}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_str_empty(config.embedded_token);
}

static const char *const bad_sandboxes[][2] = {
	{"\"net\"", "/sandbox: must be an object or null, not "},
	{"{\"class\": \"root\"}",
		"/sandbox/class: must be one of \"compute\", \"net\", \"command\", \"none\""},
	{"{\"read\": \"/x\"}", "/sandbox/read: must be an array of at most 64 elements"},
	{"{\"write\": [\"/x\", \"x\"]}",
		"/sandbox/write/1: must be a string that matches ^(/|\\$[0-9A-Za-z_]+"},
	{"{\"write\": [1]}", "/sandbox/write/0: must be a string that matches ^(/|"},
	{"{\"read\": [\"$\"]}", "/sandbox/read/0: must be a string that matches ^(/|"},
	{"{\"read\": [\"$a/b\"]}", "/sandbox/read/0: must be a string that matches ^(/|"},
	{"{\"clas\": \"net\"}", "/sandbox/clas: unexpected property 'clas'; did you mean 'class'?"},
};

Test(config, does_not_guess_what_a_sandbox_allows)
{
	for (size_t i = 0; i < sizeof(bad_sandboxes) / sizeof(*bad_sandboxes); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			"{\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": %s}}}}",
			bad_sandboxes[i][0]);
		write_user_file(text);
		cr_expect_eq(read_all(), 0, "%s", text);
		cr_expect(config.closed, "%s", text);
		expect_told(bad_sandboxes[i][1]);
	}
}

Test(config, reads_the_sandbox_of_a_toolbox_and_the_widest_of_all)
{
	const struct config_toolbox *settings;

	write_user_file("{\"toolboxd\": {\"sandbox_max\": \"net\", \"toolboxes\": {\"a\": {"
			"\"sandbox\": {\"class\": \"net\", \"read\": [\"/x\"], \"write\": null}},"
			"\"b\": {}}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_eq(config.sandbox_max, SANDBOX_NET);
	settings = config_toolbox_find(&config, "a");
	cr_assert(settings);
	cr_expect(settings->sandbox.has_class);
	cr_expect_eq(settings->sandbox.class, SANDBOX_NET);
	cr_expect_eq(settings->sandbox.read.list.n_items, 1);
	cr_expect(!settings->sandbox.write.is_given);
	cr_expect_neq(settings->digest, 0);
	cr_expect_eq(config_toolbox_find(&config, "b")->digest, 0);
	cr_expect_null(config_toolbox_find(&config, "c"));
}

Test(config, leaves_to_a_toolbox_what_it_reads_itself)
{
	uint64_t digest;

	write_user_file("{\"toolboxd\": {\"toolboxes\": {\"a\": {\"enabled\": true, \"x\": [1.10],"
			"\"env\": {}, \"y\": null}, \"b\": {\"limits\": {}}}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_str_eq(config_toolbox_find(&config, "a")->config, "{\"x\":[1.10],\"y\":null}");
	cr_expect_null(config_toolbox_find(&config, "b")->config);
	digest = config_toolbox_find(&config, "a")->digest;
	config_deinit(&config);
	write_user_file("{\"toolboxd\": {\"toolboxes\": {\"a\": {\"enabled\": true, \"x\": [2],"
			"\"env\": {}, \"y\": null}}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_neq(config_toolbox_find(&config, "a")->digest, digest);
}

Test(config, reads_the_limits_and_the_environment_of_a_toolbox)
{
	static const char environment[] = "A=1=2\0_b=\0";
	const struct config_toolbox *settings;

	write_user_file("{\"toolboxd\": {\"toolboxes\": {\"a\": {\"limits\": {"
			"\"timeout_ms\": 7, \"workers\": 3, \"queue\": 9, \"memory_mb\": 64,"
			"\"prestart\": true, \"idle_s\": 0}, \"env\": {\"A\": \"1=2\","
			"\"C\": null, \"_b\": \"\"}}, \"b\": {\"limits\": {}}}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	settings = config_toolbox_find(&config, "a");
	cr_assert(settings);
	cr_expect_eq(settings->limits.timeout_ms, 7);
	cr_expect_eq(settings->limits.workers, 3);
	cr_expect_eq(settings->limits.queue, 9);
	cr_expect_eq(settings->limits.memory_mb, 64);
	cr_expect(settings->has_prestart && settings->limits.prestart);
	cr_expect(settings->limits.has_idle_s && settings->limits.idle_s == 0);
	cr_expect_eq(environment_compare(settings->environment, environment), 0);
	settings = config_toolbox_find(&config, "b");
	cr_expect_eq(settings->limits.workers, 0);
	cr_expect_not(settings->limits.has_idle_s || settings->has_prestart);
	cr_expect_null(settings->environment);
}

static const char *const bad_members[][2] = {
	{"\"limits\": 1",
		"error mycroft.conf:1 /toolboxd/toolboxes/a/limits: must be an object or null"},
	{"\"limits\": {\"workers\": 65}", "/limits/workers: must be an integer from 1 to 64 or "
					  "null, not the number 65; it is not "
					  "used"},
	{"\"limits\": {\"idle_s\": \"1\"}",
		"/limits/idle_s: must be an integer from 0 to "
		"86400 or null, not the string \"1\"; send the number 1"},
	{"\"limits\": {\"prestart\": 1}",
		"/limits/prestart: must be a boolean or null, not the number 1; it is not used"},
	{"\"limits\": {\"worker\": 1}",
		"/limits/worker: unexpected property 'worker'; did you mean 'workers'?"},
	{"\"env\": [\"A=b\"]",
		"/env: must be an object or null, not the array [\"A=b\"]; it is not used"},
	{"\"env\": {\"A B\": \"\"}",
		"/env/A B: the property name 'A B' must be a string that matches ^(?!LD_)"},
	{"\"env\": {\"A\": true}", "/env/A: must be a string that matches ^[^\\u0000]*$ or null, "
				   "not true; it is not used"},
	{"\"env\": {\"A\": \"\\u0000\"}", "/env/A: must be a string that matches"},
	{"\"env\": {\"LD_AUDIT\": \"/x.so\"}",
		"/env/LD_AUDIT: the property name 'LD_AUDIT' must be a string that matches "},
};

Test(config, tells_what_of_a_toolbox_it_does_not_use)
{
	for (size_t i = 0; i < sizeof(bad_members) / sizeof(*bad_members); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{\"toolboxd\": {\"toolboxes\": {\"a\": {%s}}}}",
			bad_members[i][0]);
		write_user_file(text);
		cr_expect_eq(read_all(), 0, "%s", text);
		expect_told(bad_members[i][1]);
		cr_expect_null(config_toolbox_find(&config, "a")->environment);
		cr_expect_eq(config_toolbox_find(&config, "a")->limits.workers, 0);
	}
}

Test(config, bounds_an_environment)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"toolboxd\": {\"toolboxes\": {\"a\": {\"env\": {\"A\": \"");
	for (size_t i = 0; i < 65536; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, "\"}}}}}");
	cr_assert(buffer_terminate(&text));
	write_user_file(text.data);
	cr_assert_eq(read_all(), 0);
	expect_told("/env: must not have more than 65536 bytes in all; none of it is used");
	cr_expect_null(config_toolbox_find(&config, "a")->environment);
}

Test(config, knows_a_toolbox_whose_settings_are_others)
{
	static const char *const members[] = {"", "\"limits\": {\"idle_s\": 1}",
		"\"limits\": {\"idle_s\": 2}", "\"env\": {\"A\": \"1\"}", "\"env\": {\"A\": \"2\"}",
		"\"limits\": {\"idle_s\": 1}, \"env\": {\"A\": \"1\"}"};
	uint64_t before = 1;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{\"toolboxd\": {\"toolboxes\": {\"a\": {%s}}}}",
			members[i]);
		write_user_file(text);
		cr_assert_eq(read_all(), 0);
		cr_expect_neq(config_toolbox_find(&config, "a")->digest, before, "%s", text);
		before = config_toolbox_find(&config, "a")->digest;
	}
}

Test(config, accepts_what_is_not_built_while_it_says_nothing)
{
	write_user_file(
		"{\"toolboxd\": {\"profiles\": {}, \"access\": [], \"sandbox_max\": \"none\","
		"\"approval\": {\"answer_sources\": null}, \"audit\": {\"file\": null,"
		"\"max_bytes\": 4096, \"arguments\": true, \"required\": false}, \"callers\": [],"
		"\"guests\": {}, \"http\": {}, \"enabled\": true,"
		"\"toolboxes\": {\"a\": {\"tools\": {}}}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
}

Test(config, reads_profiles_and_access_rules)
{
	write_user_file("{\"toolboxd\": {\"profiles\": {\"kids\": {\"tool_names\": [\" a \", \"\","
			" \"b/*\"]}, \"gone\": null, \"all\": {\"tool_names\": [\"a\", \"all\"]},"
			" \"none\": {\"tool_names\": null}, \"empty\": {}},"
			" \"access\": [{\"match\": {\"source\": \"k*\", \"site_id\": \"\"},"
			" \"profile\": \"kids\"}, {\"match\": {}, \"profile\": \"gone\"}]}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.profiles.n_items, 4);
	cr_expect_str_eq(config.profiles.items[0].name, "all");
	cr_expect(config.profiles.items[0].has_all);
	cr_expect_str_eq(config.profiles.items[2].name, "kids");
	expect_list(&config.profiles.items[2].tool_names, "a,b/*");
	cr_expect_not(config.profiles.items[2].has_all);
	cr_expect_not(config.profiles.items[1].has_all || config.profiles.items[3].has_all);
	cr_expect_eq(config.profiles.items[1].tool_names.n_items, 0);
	cr_assert_eq(config.n_access, 2);
	cr_expect_str_eq(config.access[0].match.source, "k*");
	cr_expect_null(config.access[0].match.session_id);
	cr_expect_str_eq(config.access[0].match.site_id, "");
	cr_expect_str_eq(config.access[0].profile, "kids");
	cr_expect_null(config.access[1].match.source);
	cr_expect_str_eq(config.access[1].profile, "gone");
}

/* A file of its own may hold a profile, over a profile of its name in the configuration. */
Test(config, puts_a_profile_in_place_of_the_one_of_its_name)
{
	static const char text[] = "{\"tool_names\": [\"c\"]}";
	struct json_tape tape = {0};
	struct config_profile profile;

	write_user_file("{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [\"b\"]}}}}");
	cr_assert_eq(read_all(), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(json_tape_read(&tape, text, strlen(text), 8, NULL), 0);
		cr_assert_eq(config_profile_read(&tape, 0, &profile), 0);
		profile.name = strdup(i == 0 ? "a" : "d");
		cr_assert_eq(config_profiles_put(&config.profiles, &profile), 0);
		json_tape_deinit(&tape);
	}
	config_profiles_settle(&config.profiles);
	cr_assert_eq(config.profiles.n_items, 2);
	expect_list(&config.profiles.items[0].tool_names, "c");
	cr_expect_str_eq(config.profiles.items[1].name, "d");
	cr_expect_eq(config_profiles_find(&config.profiles, "a"), &config.profiles.items[0]);
	cr_expect_null(config_profiles_find(&config.profiles, "b"));
}

/* A search among all for each would take minutes. */
Test(config, takes_very_many_profiles, .timeout = 120)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"toolboxd\": {\"profiles\": {");
	for (int i = 0; i < 200000; i++)
		buffer_printf(&text, "%s\"p%d\":{}", i > 0 ? "," : "", i);
	buffer_append_string(&text, "}}}");
	write_user_file(buffer_terminate(&text));
	cr_assert_eq(read_all(), 0);
	cr_assert_eq(config.profiles.n_items, 200000);
	cr_expect_str_eq(config_profiles_find(&config.profiles, "p199999")->name, "p199999");
}

static const char *const half[] = {
	"{\"toolboxd\": {\"profiles\": []}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": []}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_name\": []}}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": \"all\"}}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [1]}}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [null]}}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [\"b\\u0000\"]}}}}",
	"{\"toolboxd\": {\"profiles\": {\"a\\u0000\": {}}}}",
	"{\"toolboxd\": {\"access\": {}}}",
	"{\"toolboxd\": {\"access\": [1]}}",
	"{\"toolboxd\": {\"access\": [{}]}}",
	"{\"toolboxd\": {\"access\": [{\"profile\": \"a\"}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": {}}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": {}, \"profile\": null}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": [], \"profile\": \"a\"}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": {}, \"profile\": \"a\", \"b\": 1}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": {\"sauce\": \"*\"}, \"profile\": \"a\"}]}}",
	"{\"toolboxd\": {\"access\": [{\"match\": {\"source\": null}, \"profile\": \"a\"}]}}",
	("{\"toolboxd\": {\"access\": [{\"match\": {\"site_id\": \"\\u0000\"}, \"profile\": "
	 "\"a\"}]}}"),
	"{\"toolboxd\": {\"profile\": {}}}",
	"{\"toolboxd\": {\"acess\": []}}",
};

/* No half of a profile or of a rule is used. */
Test(config, is_closed_by_a_wrong_profile_or_rule)
{
	for (size_t i = 0; i < sizeof(half) / sizeof(*half); i++) {
		write_user_file(half[i]);
		cr_expect_eq(read_all(), 0);
		cr_expect(config.closed, "%s", half[i]);
	}
	expect_told(
		"error mycroft.conf:1 /toolboxd/acess: unexpected property 'acess'; did you mean "
		"'access'?");
}

Test(config, has_an_audit_log)
{
	write_user_file("{\"toolboxd\": {\"audit\": {\"file\": \"/x\", \"max_bytes\": 5000,"
			"\"arguments\": true, \"required\": true}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_str_eq(config.audit_file, "/x");
	cr_expect_eq(config.audit_max_bytes, 5000u);
	cr_expect(config.audit_arguments && config.audit_required);
	write_user_file("{\"toolboxd\": {\"audit\": {}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_null(config.audit_file);
	cr_expect_eq(config.audit_max_bytes, 10u << 20);
	cr_expect_not(config.audit_arguments || config.audit_required);
}

Test(config, is_closed_by_an_audit_log_that_cannot_be_meant)
{
	static const char *const wrong[] = {"\"file\": \"x\"", "\"file\": 5", "\"file\": \"\"",
		"\"file\": \"/a\\u0000\"", "\"file\": \"/x\", \"max_bytes\": 1",
		"\"file\": \"/x\", \"max_bytes\": \"many\"", "\"file\": \"/x\", \"arguments\": 1",
		"\"file\": \"/x\", \"required\": \"no\"", "\"required\": true"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{\"toolboxd\": {\"audit\": {%s}}}", wrong[i]);
		write_user_file(text);
		cr_expect_eq(read_all(), 0, "%s", text);
		cr_expect(config.closed, "%s", text);
	}
}

Test(config, reads_limits_per_caller)
{
	uint64_t digest;

	write_user_file("{\"toolboxd\": {\"callers\": [{\"match\": {\"source\": \"a*\"}, "
			"\"in_flight\": 2, \"per_minute\": 60, \"burst\": 10},"
			"{\"match\": {}, \"per_minute\": 5}, {\"match\": {}, \"in_flight\": 1}]}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_assert_eq(config.n_callers, 3u);
	cr_expect_str_eq(config.callers[0].match.source, "a*");
	cr_expect_eq(config.callers[0].in_flight, 2u);
	cr_expect_eq(config.callers[0].burst, 10u);
	cr_expect_eq(config.callers[1].burst, 5u);
	cr_expect_eq(config.callers[2].per_minute, 0u);
	digest = config.callers_digest;
	write_user_file("{\"toolboxd\": {\"callers\": []}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_neq(config.callers_digest, digest);
}

Test(config, is_closed_by_a_limit_per_caller_that_cannot_be_meant)
{
	static const char *const wrong[] = {"{}", "[1]", "[{}]", "[{\"match\": {}}]",
		"[{\"in_flight\": 1}]", "[{\"match\": {}, \"in_flight\": 0}]",
		"[{\"match\": {}, \"in_flight\": \"1\"}]",
		"[{\"match\": {}, \"per_minute\": 1000001}]",
		"[{\"match\": {}, \"in_flight\": 1, \"burst\": 1}]",
		"[{\"match\": {}, \"in_flight\": 1, \"per_hour\": 1}]",
		"[{\"match\": {\"door\": \"bus\"}, \"in_flight\": 1}]"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];

		snprintf(text, sizeof(text), "{\"toolboxd\": {\"callers\": %s}}", wrong[i]);
		write_user_file(text);
		cr_expect_eq(read_all(), 0, "%s", text);
		cr_expect(config.closed, "%s", text);
	}
}

/* --- TOOLBOXD_SYSROOT */

Test(config, warns_of_a_copy_of_the_kernels_files)
{
	setenv("TOOLBOXD_SYSROOT", "/tmp/copy", 1);
	cr_assert_eq(read_all(), 0);
	expect_told("warning -:0 TOOLBOXD_SYSROOT: is for tests: tools see /tmp/copy/proc");
}

Test(config, refuses_a_copy_of_the_kernels_files_that_is_not_for_tests)
{
	setenv("TOOLBOXD_SYSROOT", "copy", 1);
	cr_expect_eq(read_all(), CONFIG_E_USAGE);
	expect_told("error -:0 TOOLBOXD_SYSROOT: must be an absolute path; found copy");
	setenv("TOOLBOXD_SYSROOT", "/tmp/copy", 1);
	setenv("STATE_DIRECTORY", "/var/lib/toolboxd", 1);
	cr_expect_eq(read_all(), CONFIG_E_USAGE);
	expect_told("is for tests, and refused where STATE_DIRECTORY is set");
}

/* --- the ways in */

Test(config, tells_of_the_folders_that_are_named_and_missing)
{
	char text[512];

	write_file("file", "");
	write_file("there/box.json", "");
	cr_assert_eq(read_all(), 0);
	config_report_absent_folders(&config, DIAGNOSTIC_ERROR, &told_sink);
	expect_silence();
	snprintf(text, sizeof(text), "{\"toolboxd\": {\"toolbox_dirs\": [\"%s\", \"%s\", \"%s\"]}}",
		in_folder("there"), in_folder("nowhere"), in_folder("file"));
	write_user_file(text);
	cr_assert_eq(read_all(), 0);
	config_report_absent_folders(&config, DIAGNOSTIC_WARNING, &told_sink);
	snprintf(text, sizeof(text),
		"warning -:0 toolbox_dirs: the folder %s: No such file or directory\n"
		"warning -:0 toolbox_dirs: %s is not a folder\n",
		in_folder("nowhere"), in_folder("file"));
	cr_expect_str_eq(buffer_terminate(&told), text, "%s", told.data);
}

static void ignore(void *data, const struct diagnostic *diagnostic)
{
	(void)data, (void)diagnostic;
}

Test(config, tells_an_answerer_where_the_key_is)
{
	struct approval_key key;
	char text[256];
	char *path = NULL;

	cr_assert_eq(
		config_read_approval_key(&(struct config_flags){0}, ignore, NULL, &path, &key), 0);
	cr_expect_null(path, "it is not configured");
	cr_expect_eq(key.state, APPROVAL_KEY_NONE);
	write_file("key", "000102030405060708090a0b0c0d0e0fF0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\n");
	snprintf(text, sizeof(text), "{\"toolboxd\": {\"approval\": {\"key_file\": \"%s\"}}}",
		in_folder("key"));
	write_user_file(text);
	cr_assert_eq(
		config_read_approval_key(&(struct config_flags){0}, ignore, NULL, &path, &key), 0);
	cr_expect_str_eq(path, in_folder("key"));
	cr_expect_eq(key.state, APPROVAL_KEY_READY);
	cr_expect_eq(key.bytes[1], 1);
	free(path);
	write_file("key", "");
	cr_assert_eq(
		config_read_approval_key(&(struct config_flags){0}, ignore, NULL, &path, &key), 0);
	cr_expect_str_eq(path, in_folder("key"), "whether this user can read it or not");
	cr_expect_eq(key.state, APPROVAL_KEY_UNUSABLE);
	free(path);
}

Test(config, tells_a_client_the_bus_and_its_token)
{
	struct bus_address bus;
	char text[256];

	write_file("token", "0123456789abcdef");
	snprintf(text, sizeof(text),
		"{\"websocket\": {\"port\": 7}, \"toolboxd\": {\"embedded\": {\"token_file\":"
		" \"%s\"}}}",
		in_folder("token"));
	write_user_file(text);
	cr_assert_eq(config_read_bus(&(struct config_flags){0}, ignore, NULL, &bus), 0);
	cr_expect_eq(bus.port, 7);
	cr_expect_str_eq(bus.token, "0123456789abcdef");
	write_file("token", "");
	cr_assert_eq(config_read_bus(&(struct config_flags){0}, ignore, NULL, &bus), 0);
	cr_expect_str_eq(bus.token, "", "another bus may need none");
}

Test(config, of_one_person_asks_nobody)
{
	struct config_flags flags = {.private = "0123456789abcdef"};

	write_user_file(
		"{\"toolboxd\": {\"enabled\": false, \"approval\": {\"mode\": \"strict\"}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect(config.is_disabled);
	cr_expect_str_eq(config.embedded_token, "");
	cr_assert_eq(read_with(&flags), 0);
	cr_expect_not(config.is_disabled);
	cr_expect_eq(config.approval_mode, APPROVAL_OFF);
	cr_expect_str_eq(config.embedded_token, "0123456789abcdef");
	flags.keeps_approval = true;
	cr_assert_eq(read_with(&flags), 0);
	cr_expect_eq(config.approval_mode, APPROVAL_STRICT);
}

Test(config, of_a_part_of_a_command_writes_no_audit_log)
{
	write_user_file("{\"toolboxd\": {\"audit\": {\"file\": \"/a\", \"required\": true}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_str_eq(config.audit_file, "/a");
	cr_expect(config.audit_required);
	cr_assert_eq(read_with(&(struct config_flags){.is_second = true, .log_format = "json"}), 0);
	cr_expect_null(config.audit_file);
	cr_expect_not(config.audit_required);
	cr_expect_eq(config.log_format, LOG_FORMAT_PLAIN);
}
