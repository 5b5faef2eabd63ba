/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_fixture.h"
#include "scarce.h"

/* The sources of a configuration: files, environment, flags. */
TestSuite(config_sources, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

/* --- files */

Test(config_sources, merges_deep_from_the_distribution_up_to_the_flag)
{
	write_file("distribution.conf",
		"{\"toolboxd\": {\"timeout_ms\": 1, \"idle_s\": 1, \"drain_ms\": 1,"
		"\"crash_limit\": 1, \"crash_window_s\": 1, \"log\": {\"format\": \"json\"}}}");
	write_file("system.conf", "{\"toolboxd\": {\"idle_s\": 2, \"drain_ms\": 2,"
				  "\"crash_limit\": 2, \"crash_window_s\": 2}}");
	write_file("xdg/mycroft/mycroft.conf", "{\"toolboxd\": {\"drain_ms\": 3,"
					       "\"crash_limit\": 3, \"crash_window_s\": 3}}");
	write_user_file("{\"toolboxd\": {\"crash_limit\": 4, \"crash_window_s\": 4,"
			"\"log\": {\"level\": \"debug\"}}}");
	write_file("flag.conf", "{\"toolboxd\": {\"crash_window_s\": 5}}");
	cr_assert_eq(read_with(&(struct config_flags){.config = in_folder("flag.conf")}), 0);
	expect_silence();
	cr_expect_eq(config.timeout_ms, 1);
	cr_expect_eq(config.idle_s, 2);
	cr_expect_eq(config.drain_ms, 3);
	cr_expect_eq(config.crash_limit, 4);
	cr_expect_eq(config.crash_window_s, 5);
	cr_expect_eq(config.log_format, LOG_FORMAT_JSON);
	cr_expect_eq(config.log_level, LOG_LEVEL_DEBUG);
}

Test(config_sources, merges_objects_deep_and_replaces_everything_else)
{
	write_file("system.conf",
		"{\"toolboxd\": {\"toolboxes\": {\"b\": {\"a\": {\"x\": 1, \"y\": {\"z\": [1, 2]}},"
		"\"list\": [1, 2], \"n\": 1, \"o\": {\"p\": 1}, \"s\": 2, \"t\": {\"u\": 1}}}}}");
	write_file("xdg/mycroft/mycroft.conf",
		"{\"toolboxd\": {\"toolboxes\": {\"b\": {\"t\": 3}, \"c\": {\"q\": {}}}}}");
	write_user_file(
		"{\"toolboxd\": {\"toolboxes\": {\"b\": {\"\\u0061\": {\"y\": {\"z\": [3],"
		"\"w\": \"\\u0000\"}}, \"list\": [], \"n\": null, \"o\": 5, \"s\": {\"t\": 6},"
		"\"t\": {\"v\": 2}, \"A\": 0.10}}}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_str_eq(buffer_terminate(&config.merged),
		"{\"toolboxd\":{\"toolboxes\":{\"b\":{\"a\":{\"x\":1,\"y\":{\"z\":[3],\"w\":"
		"\"\\u0000\"}},\"list\":[],\"n\":null,\"o\":5,\"s\":{\"t\":6},\"t\":{\"v\":2},"
		"\"A\":0.10},\"c\":{\"q\":{}}}},\"websocket\":{}}");
}

Test(config_sources, replaces_lists_whole_and_takes_values_back_with_null)
{
	write_file("system.conf", "{\"toolboxd\": {\"approval\": {\"allow\": [\"a\", \"b\"]},"
				  "\"timeout_ms\": 9, \"limits\": {\"depth\": 9}}}");
	write_user_file("{\"toolboxd\": {\"approval\": {\"allow\": [\"c\"]}, \"timeout_ms\": null,"
			"\"limits\": null}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_list(&config.approval_allow, "c");
	cr_expect_eq(config.timeout_ms, 0);
	cr_expect_eq(config.limits.depth, 128);
}

Test(config_sources, use_no_mistake_when_memory_is_short_once)
{
	size_t n = 0;

	write_user_file("{\"toolboxd\": {\"idle_s\": -5, \"drain_ms\": 2}}");
	write_file("home/.config/toolboxd/disabled.json", "[{\"name\": \"a/*\"}]");
	for (; scarce_once_after(n); n++) {
		int r = read_all();
		bool has_failed = scarce_has_failed();

		cr_assert(r == 0 || has_failed, "%d at %zu", r, n);
		if (r != 0)
			continue;
		cr_expect_eq(config.idle_s, 60, "at %zu", n);
		cr_expect_eq(config.drain_ms, 2, "at %zu", n);
		cr_expect_eq(config.disabled.names.n_items, 1, "at %zu", n);
		cr_expect_eq(config.toolbox_dirs.n_items, 3, "at %zu", n);
		cr_expect_null(strstr(buffer_terminate(&config.merged), "idle_s"), "at %zu", n);
	}
	cr_expect_gt(n, 20);
}

Test(config_sources, takes_the_first_xdg_folder_as_the_highest_and_ignores_relative_ones)
{
	char dirs[256];

	snprintf(dirs, sizeof(dirs), "%s:relative::%s", in_folder("first"), in_folder("second"));
	setenv("XDG_CONFIG_DIRS", dirs, 1);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	write_file("first/mycroft/mycroft.conf", "{\"toolboxd\": {\"idle_s\": 1}}");
	write_file(
		"second/mycroft/mycroft.conf", "{\"toolboxd\": {\"idle_s\": 2, \"drain_ms\": 2}}");
	write_user_file("{\"toolboxd\": {\"timeout_ms\": 3}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.idle_s, 1);
	cr_expect_eq(config.drain_ms, 2);
	cr_expect_eq(config.timeout_ms, 3, "the default home of the configuration stands in");
}

Test(config_sources, follows_the_names_that_ovos_was_given)
{
	setenv("OVOS_CONFIG_BASE_FOLDER", "neon", 1);
	setenv("OVOS_CONFIG_FILENAME", "neon.json", 1);
	setenv("XDG_CONFIG_HOME", in_folder("elsewhere"), 1);
	write_file("elsewhere/neon/neon.json", "{\"toolboxd\": {\"idle_s\": 1}}");
	write_user_file("{\"toolboxd\": {\"idle_s\": 2}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.idle_s, 1);
}

Test(config_sources, hears_a_system_that_disables_the_users_files)
{
	write_file("distribution.conf", "{\"toolboxd\": {\"idle_s\": 1}}");
	write_file("system.conf", "{\"system\": {\"disable_user_config\": true},"
				  "\"toolboxd\": {\"drain_ms\": 2}}");
	write_file("flag.conf", "{\"toolboxd\": {\"timeout_ms\": 3}}");
	write_user_file("{\"system\": {\"disable_user_config\": false},"
			"\"toolboxd\": {\"drain_ms\": 4}}");
	cr_assert_eq(read_with(&(struct config_flags){.config = in_folder("flag.conf")}), 0);
	cr_expect_eq(config.idle_s, 60);
	cr_expect_eq(config.drain_ms, 2);
	cr_expect_eq(config.timeout_ms, 3);
}

Test(config_sources, skips_a_broken_file_and_tells_the_line)
{
	write_file("system.conf", "{\"toolboxd\": {\"idle_s\": 1}}");
	write_user_file("{\n// a comment, \"\n\n\"toolboxd\": {\"idle_s\": 2},\n}");
	cr_assert_eq(read_all(), 0);
	expect_told("error mycroft.conf:5 : ");
	cr_expect(config.closed && strstr(config.closed, "mycroft.conf:5: "), "%s", config.closed);
	cr_expect_eq(config.idle_s, 1);
}

Test(config_sources, skips_a_file_that_holds_no_object)
{
	write_user_file("[1]");
	cr_assert_eq(read_all(), 0);
	expect_told("error mycroft.conf:1 : must hold a JSON object, not array");
	cr_expect(config.closed);
}

Test(config_sources, skips_yaml_and_says_so)
{
	setenv("OVOS_CONFIG_FILENAME", "mycroft.yml", 1);
	cr_assert_eq(read_all(), 0);
	expect_told("YAML is not supported");
	cr_expect(config.closed);
}

Test(config_sources, takes_a_file_without_text_as_an_empty_object)
{
	static const char *const texts[] = {"", " \t\r\n", "// only\n# comments"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_user_file(texts[i]);
		cr_assert_eq(read_all(), 0);
		expect_silence();
		cr_expect_null(config.closed);
	}
}

Test(config_sources, is_closed_by_what_is_no_file)
{
	cr_assert_eq(mkfifo(in_folder("system.conf"), 0600), 0);
	cr_assert_eq(read_all(), 0);
	expect_told("error system.conf:0 : cannot be read: Invalid argument");
	cr_expect(config.closed);
	cr_assert_eq(unlink(in_folder("system.conf")), 0);
	cr_assert_eq(mkdir(in_folder("system.conf"), 0700), 0);
	cr_assert_eq(read_all(), 0);
	expect_told("error system.conf:0 : cannot be read: Is a directory");
	cr_expect(config.closed);
}

Test(config_sources, is_closed_by_no_file_of_a_user_who_may_not_configure)
{
	write_file("system.conf", "{\"system\": {\"disable_user_config\": true}}");
	write_user_file("{");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_null(config.closed);
}

static void note_path(void *data, const char *path)
{
	const char *own = in_folder("");
	bool is_own = strncmp(path, own, strlen(own)) == 0;

	buffer_printf(data, "%s\n", is_own ? path + strlen(own) : path);
}

Test(config_sources, are_all_known_whether_they_exist_or_not)
{
	cleanup(buffer_deinit) struct buffer paths = {0};

	config_each_file(
		&(struct config_flags){.config = in_folder("flag.conf")}, note_path, &paths);
	cr_expect_str_eq(buffer_terminate(&paths),
		"distribution.conf\nsystem.conf\nxdg/mycroft/mycroft.conf\n"
		"home/.config/mycroft/mycroft.conf\nflag.conf\n"
		"/etc/toolboxd/tokens.json\n/etc/toolboxd/allow.json\n/etc/toolboxd/enabled.json\n"
		"/etc/toolboxd/disabled.json\n"
		"home/.config/toolboxd/tokens.json\nhome/.config/toolboxd/allow.json\n"
		"home/.config/toolboxd/enabled.json\nhome/.config/toolboxd/disabled.json\n");
}

Test(config_sources, are_closed_by_a_variable_that_is_almost_one_that_decides)
{
	static const char *const names[] = {"TOOLBOXD_TOOLS_DISABELD", "TOOLBOX_TOOLS_ENABLED",
		"TOOLBOXD_TOOL", "TOOLBOXD_APROVAL_MODE", "TOOLBOXD_TOOLBOX_DIR"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		setenv(names[i], "add", 1);
		cr_assert_eq(read_all(), 0);
		expect_told("is an unknown variable; did you mean TOOLBOXD_");
		cr_expect(config.closed && strstr(config.closed, names[i]), "%s", names[i]);
		setenv(names[i], "", 1);
		cr_assert_eq(read_all(), 0);
		expect_silence();
		unsetenv(names[i]);
	}
	setenv("TOOLBOXD_APPROVAL_MODE", "strickt", 1);
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed && strstr(config.closed, "TOOLBOXD_APPROVAL_MODE: must be"));
}

Test(config_sources, refuses_a_file_on_the_command_line_that_is_not_there)
{
	cr_expect_eq(read_with(&(struct config_flags){.config = in_folder("none.conf")}),
		CONFIG_E_REFUSED);
	expect_told("error none.conf:0 : cannot be read: No such file or directory");
}

Test(config_sources, blanks_comments_that_are_whole_lines_only)
{
	write_user_file("# first\n{\n\t // \"idle_s\"\n\"toolboxd\": {\"toolbox_dirs\":"
			" [\"http://x#y\"],\r\n  #\r\n\"idle_s\": 5}}\n//");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_list(&config.toolbox_dirs, "http://x#y");
	cr_expect_eq(config.idle_s, 5);
}

Test(config_sources, does_not_take_a_comment_behind_a_value)
{
	write_user_file("{\"toolboxd\": {}} // no");
	cr_assert_eq(read_all(), 0);
	expect_told("expected the end of the text");
	cr_expect(config.closed);
}

/* --- the bus */

Test(config_sources, reads_the_websocket_section_as_ovos_does)
{
	write_user_file(
		"{\"websocket\": {\"host\": \"bus.local\", \"port\": 1234, \"route\": \"/x\","
		"\"ssl\": true, \"shared_connection\": true}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_bus("wss://bus.local:1234/x");
	write_user_file("{\"websocket\": {\"host\": \"\", \"port\": 0, \"route\": null}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_bus("ws://127.0.0.1:8181/core");
}

Test(config_sources, uses_the_default_for_what_is_wrong_in_websocket)
{
	write_user_file("{\"websocket\": {\"host\": \"a/b\", \"port\": 70000, \"route\": \"core\","
			"\"ssl\": \"yes\"}}");
	cr_assert_eq(read_all(), 0);
	expect_told("/websocket/host: must be the name or address of a host, not \"a/b\"");
	expect_told("/websocket/port: must be an integer from 0 to 65535 or null, not the number "
		    "70000");
	expect_told("/websocket/route: must be a path that begins with '/', not \"core\"");
	expect_told("/websocket/ssl: must be a boolean or null, not the string \"yes\"");
	expect_bus("ws://127.0.0.1:8181/core");
}

Test(config_sources, refuses_a_bus_that_is_encrypted)
{
	write_user_file("{\"websocket\": {\"secret_key\": \"0123456789abcdef\"}}");
	cr_expect_eq(read_all(), CONFIG_E_REFUSED);
	expect_told("/websocket/secret_key: must be one of \"\", null; encrypted buses are not "
		    "supported");
	write_user_file("{\"websocket\": {\"secret_key\": \"\"}}");
	cr_expect_eq(read_all(), 0);
}

Test(config_sources, lets_a_flag_beat_the_environment_and_the_environment_the_files)
{
	write_user_file("{\"websocket\": {\"port\": 1, \"host\": \"file\"}}");
	setenv("TOOLBOXD_BUS", "ws://env:2/b", 1);
	cr_assert_eq(read_all(), 0);
	expect_bus("ws://env:2/b");
	cr_assert_eq(read_with(&(struct config_flags){.bus = "wss://[::1]:0"}), 0);
	expect_bus("wss://[::1]:0/core");
	cr_expect(strstr(buffer_terminate(&config.merged), "\"port\":0"));
}

Test(config_sources, tells_of_a_bus_that_is_no_url)
{
	setenv("TOOLBOXD_BUS", "http://x", 1);
	cr_expect_eq(read_all(), 0);
	expect_told("error -:0 TOOLBOXD_BUS: must be the URL of a bus");
	expect_bus("ws://127.0.0.1:8181/core");
	cr_expect_eq(read_with(&(struct config_flags){.bus = "http://x"}), CONFIG_E_USAGE);
	expect_told("error -:0 --bus: must be the URL of a bus");
}

/* --- environment and flags */

Test(config_sources, reads_every_variable)
{
	write_user_file(
		"{\"toolboxd\": {\"toolbox_dirs\": [\"/f\"], \"log\": {\"level\": \"error\"},"
		"\"result_max_chars\": 1, \"approval\": {\"mode\": \"auto\"}}}");
	setenv("TOOLBOXD_TOOLBOX_DIRS", "/a::/b:", 1);
	setenv("TOOLBOXD_APPROVAL_MODE", "off", 1);
	setenv("TOOLBOXD_TOOL_RESULT_MAX_CHARS", "050", 1);
	setenv("TOOLBOXD_LOG_LEVEL", "warning", 1);
	setenv("TOOLBOXD_LOG_FORMAT", "json", 1);
	setenv("TOOLBOXD_DEBUG", "1", 1);
	cr_assert_eq(read_all(), 0);
	expect_silence();
	expect_list(&config.toolbox_dirs, "/a,/b");
	cr_expect_eq(config.approval_mode, APPROVAL_OFF);
	cr_expect_eq(config.result_max_chars, 50);
	cr_expect_eq(config.log_level, LOG_LEVEL_WARNING);
	cr_expect_eq(config.log_format, LOG_FORMAT_JSON);
	unsetenv("TOOLBOXD_LOG_LEVEL");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.log_level, LOG_LEVEL_DEBUG);
}

Test(config_sources, tells_a_wrong_value_by_the_name_of_its_variable_or_flag)
{
	setenv("TOOLBOXD_LOG_LEVEL", "loud", 1);
	setenv("TOOLBOXD_TOOL_RESULT_MAX_CHARS", "many", 1);
	cr_assert_eq(read_with(&(struct config_flags){.log_format = "xml"}), CONFIG_E_USAGE);
	expect_told("error -:0 TOOLBOXD_LOG_LEVEL: must be ");
	expect_told("warning -:0 TOOLBOXD_TOOL_RESULT_MAX_CHARS: must be ");
	expect_told(
		"error -:0 --log-format: must be one of \"text\", \"json\", null, not the string "
		"\"xml\"\n");
}

Test(config_sources, reads_every_flag)
{
	static const char *const folders[] = {"/x", "/y:z"};

	setenv("TOOLBOXD_TOOLBOX_DIRS", "/a", 1);
	setenv("TOOLBOXD_LOG_LEVEL", "error", 1);
	cr_assert_eq(read_with(&(struct config_flags){.toolbox_dirs = folders,
			     .n_toolbox_dirs = 2,
			     .log_level = "debug",
			     .log_format = "json"}),
		0);
	expect_list(&config.toolbox_dirs, "/x,/y:z");
	cr_expect(config.has_toolbox_dirs);
	cr_expect_eq(config.log_level, LOG_LEVEL_DEBUG);
	cr_expect_eq(config.log_format, LOG_FORMAT_JSON);
}

Test(config_sources, lets_the_first_variable_that_says_something_decide_the_filter)
{
	write_user_file(
		"{\"toolboxd\": {\"tools_enabled\": [\"f\"], \"tools_disabled\": [\"g\"]}}");
	setenv("TOOLBOXD_TOOLS_ENABLED", " , ", 1);
	cr_assert_eq(read_all(), 0);
	expect_list(&config.tools_enabled, "f");
	expect_list(&config.tools_disabled, "g");
	expect_told("warning mycroft.conf:1 /toolboxd/tools_disabled: is ignored, since "
		    "tools_enabled is set\n");
	setenv("TOOLBOXD_TOOLS", "old", 1);
	cr_assert_eq(read_all(), 0);
	expect_told("warning -:0 TOOLBOXD_TOOLS: is deprecated; set TOOLBOXD_TOOLS_ENABLED");
	expect_list(&config.tools_enabled, "old");
	expect_list(&config.tools_disabled, "");
	setenv("TOOLBOXD_TOOLS_DISABLED", "d,, e ", 1);
	cr_assert_eq(read_all(), 0);
	expect_list(&config.tools_enabled, "");
	expect_list(&config.tools_disabled, "d,e");
	setenv("TOOLBOXD_TOOLS_ENABLED", "a", 1);
	cr_assert_eq(read_all(), 0);
	expect_list(&config.tools_enabled, "a");
	expect_list(&config.tools_disabled, "");
	expect_told("warning -:0 TOOLBOXD_TOOLS_ENABLED: decides alone which tools are offered; "
		    "ignored: TOOLBOXD_TOOLS_DISABLED and TOOLBOXD_TOOLS\n");
	unsetenv("TOOLBOXD_TOOLS");
	setenv("TOOLBOXD_TOOLS_ENABLED", " a , b ,a,", 1);
	cr_assert_eq(read_all(), 0);
	expect_list(&config.tools_enabled, "a,b");
	expect_told("ignored: TOOLBOXD_TOOLS_DISABLED\n");
}

Test(config_sources, survives_a_variable_that_is_not_utf8)
{
	setenv("TOOLBOXD_TOOLS_ENABLED", "a\xff,b", 1);
	cr_assert_eq(read_all(), 0);
	expect_list(&config.tools_enabled, "a\xEF\xBF\xBD,b");
}

Test(config_sources, shows_what_was_merged)
{
	write_file("system.conf", "{\"other\": 1, \"toolboxd\": {\"idle_s\": 1.0}}");
	setenv("TOOLBOXD_LOG_FORMAT", "json", 1);
	cr_assert_eq(read_all(), 0);
	cr_expect_str_eq(buffer_terminate(&config.merged),
		"{\"toolboxd\":{\"idle_s\":1.0,\"log\":{\"format\":\"json\"}},\"websocket\":{}}");
}

static void ignore(void *data, const struct diagnostic *diagnostic)
{
	(void)data, (void)diagnostic;
}

Test(config_sources, finds_the_bus_whatever_else_is_wrong)
{
	static const struct config_flags none = {0};
	struct bus_address address;
	char url[BUS_URL_BYTES];

	write_user_file("{\"toolboxd\": {\"profiles\": 5}, \"websocket\": {\"port\": 77}}");
	cr_assert_eq(read_with(&none), 0);
	cr_expect(config.closed);
	cr_assert_eq(config_read_bus(&none, ignore, NULL, &address), 0);
	bus_address_format(&address, url);
	cr_expect_str_eq(url, "ws://127.0.0.1:77/core");
}

/* --- layers, each checked by itself */

Test(config_sources, uses_the_value_of_a_lower_file_in_place_of_a_mistake)
{
	write_file("system.conf", "{\"toolboxd\": {\"idle_s\": 7, \"drain_ms\": \"x\","
				  " \"limits\": {\"depth\": 9}}}");
	write_user_file(
		"{\"toolboxd\": {\"idle_s\": -1, \"drain_ms\": 8, \"limits\": [], \"q\": 1}}");
	cr_assert_eq(read_all(), 0);
	expect_told("error system.conf:1 /toolboxd/drain_ms: must be an integer");
	expect_told("error mycroft.conf:1 /toolboxd/idle_s: must be an integer");
	expect_told("error mycroft.conf:1 /toolboxd/limits: must be an object");
	cr_expect_eq(config.idle_s, 7);
	cr_expect_eq(config.drain_ms, 8);
	cr_expect_eq(config.limits.depth, 9);
	cr_expect_str_eq(buffer_terminate(&config.merged),
		"{\"toolboxd\":{\"idle_s\":7,\"limits\":{\"depth\":9},\"drain_ms\":8},"
		"\"websocket\":{}}");
}

Test(config_sources, is_closed_by_a_mistake_that_a_higher_file_would_hide)
{
	write_file("system.conf", "{\"toolboxd\": {\"approval\": \"strict\"}}");
	write_user_file("{\"toolboxd\": {\"approval\": {\"timeout_ms\": 9}}}");
	cr_assert_eq(read_all(), 0);
	cr_assert(config.closed);
	cr_expect(strstr(config.closed, "system.conf:1 /toolboxd/approval: must be an object"),
		"%s", config.closed);
}

Test(config_sources, uses_nothing_of_a_value_with_very_many_mistakes)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "{\"toolboxd\": {\"toolbox_dirs\": [\"/a\"");
	for (int i = 0; i < 11; i++)
		buffer_append_string(&text, ",1");
	buffer_append_string(&text, "]}}");
	write_user_file(buffer_terminate(&text));
	cr_assert_eq(read_all(), 0);
	cr_expect(config.closed);
	expect_told("/toolboxd/toolbox_dirs: has more mistakes than these; it decides");
	cr_expect_not(config.has_toolbox_dirs);
}

Test(config_sources, shows_no_secret_in_a_report)
{
	write_user_file(
		"{\"toolboxd\": {\"http\": {\"tokens\": [{\"name\": \"a\", \"token_sha256\":"
		" \"hush\"}, {\"name\": \"b\", \"token\": \"hush\"}]}},"
		" \"websocket\": {\"secret_key\": \"hush\"}}");
	cr_expect_eq(read_all(), CONFIG_E_REFUSED);
	expect_told("/toolboxd/http/tokens/0/token_sha256: must be ");
	expect_told("/toolboxd/http/tokens/1: must be an object with ");
	expect_told("/websocket/secret_key: must be ");
	cr_expect_not(strstr(told.data, "hush"), "%s", told.data);
}

Test(config_sources, does_not_look_at_a_section_that_a_url_replaces)
{
	write_user_file("{\"websocket\": {\"secret_key\": \"x\", \"port\": \"y\"}}");
	cr_expect_eq(read_with(&(struct config_flags){.bus = "ws://h:1/"}), 0);
	expect_silence();
	expect_bus("ws://h:1/");
	cr_expect_str_eq(buffer_terminate(&config.merged),
		"{\"toolboxd\":{},\"websocket\":{\"host\":\"h\","
		"\"port\":1,\"route\":\"/\",\"ssl\":false}}");
}
