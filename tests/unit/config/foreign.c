/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "config_fixture.h"

/* A file whose other sections only Python's json takes. */
TestSuite(config_foreign, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

static void write_beside(const char *other)
{
	char text[512];

	snprintf(text, sizeof(text), "{\n%s,\n\"toolboxd\": {\"idle_s\": 7}}", other);
	write_user_file(text);
	cr_assert_eq(read_all(), 0);
}

static const char *const taken[] = {
	"\"a\": {\"b\": 1,\n\"b\": 2}",
	"\"a\": {\"b\": [{}, \"}\\\"\"], \"\\u0062\": {}}",
	"\"a\": {\"b\": 1, \"b\": 2, \"b\": 3, \"c\": 4, \"c\": 5}",
	"\"a\": {\"\": 1, \"\": 2}",
	"\"a\": 1, \"b\": 2, \"a\": 3",
	"\"a\": [NaN,Infinity , -Infinity]",
	"\"a\": {\"b\": -Infinity}",
	"\"a\": \"\\ud800 \\udc00\"",
	"\"a\": {\"\\udfff\": 1}",
	"\"a\": {\"\\u0000\": 1}",
	"\"PHAL\": {\"other\": NaN}",
};

Test(config_foreign, is_read_as_python_reads_it)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		write_beside(taken[i]);
		expect_silence();
		cr_expect_null(config.closed, "%s: %s", taken[i], config.closed);
		cr_expect_eq(config.idle_s, 7, "%s", taken[i]);
	}
}

static const char *const refused[] = {
	"\"a\": {\"b\": 1,}",
	"\"a\": NaNs",
	"\"a\": nan",
	"\"a\": --Infinity",
	"\"a\": \"\\ud80\"",
	"\"toolboxd\": {\"tools_enabled\": [], \"tools_enabled\": [\"add\"]}",
	"\"toolboxd\": {\"tools_enabled\": []}",
	"\"toolbo\\u0078d\": {\"tools_enabled\": []}",
	"\"websocket\": {\"port\": NaN}",
	"\"toolboxes\": 1, \"websocket\": {\"host\": \"\\ud800\"}",
};

Test(config_foreign, is_closed_by_what_python_does_not_take_and_by_our_own_sections)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		write_beside(refused[i]);
		cr_expect(config.closed, "%s", refused[i]);
	}
}

Test(config_foreign, leaves_the_last_value_of_what_is_read)
{
	write_user_file("{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"x\": {\"k\": 1}},\n"
			"\"ovos-phal-plugin-tools\": {\"x\": {\"k\": 2, \"k\": 3}}},\n"
			"\"toolboxd\": {\"idle_s\": -1}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_null(config.closed);
	cr_expect_str_eq(config.plugins, "{\"x\":{\"k\":3}}");
	expect_told("mycroft.conf:3 /toolboxd/idle_s");
}

Test(config_foreign, becomes_json_for_a_toolbox)
{
	write_user_file(
		"{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"x\": {\"a\": [NaN, -Infinity, 1.0],"
		" \"b\": \"\\ud800\\n\", \"c\": {\"k\": {\"l\": 1}, \"k\": {}}}}}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_str_eq(config.plugins,
		"{\"x\":{\"a\":[null,null,1.0],\"b\":\"\xEF\xBF\xBD\\n\",\"c\":{\"k\":{}}}}");
}

Test(config_foreign, disables_the_files_of_the_user_by_the_last_value)
{
	write_user_file("{\"toolboxd\": {\"idle_s\": 7}}");
	write_file("system.conf", "{\"system\": {}, \"system\": {\"disable_user_config\": false,"
				  " \"disable_user_config\": true}}");
	cr_assert_eq(read_all(), 0);
	expect_silence();
	cr_expect_eq(config.idle_s, 60);
	write_file("system.conf", "{\"system\": {\"disable_user_config\": true}, \"system\": {}}");
	cr_assert_eq(read_all(), 0);
	cr_expect_eq(config.idle_s, 7);
}
