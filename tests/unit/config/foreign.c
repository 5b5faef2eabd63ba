/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "config_fixture.h"
#include "util/cleanup.h"

/* A file whose other sections only Python's json takes. */
TestSuite(config_foreign, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

static void write_beside(const char *other)
{
	char text[512];

	snprintf(text, sizeof(text), "{\n%s,\n\"toolboxd\": {\"idle_s\": 7}}", other);
	write_user_file(text);
	cr_assert_eq(read_all(), 0);
}

static const char *const taken[][2] = {
	{"\"a\": {\"b\": 1,\n\"b\": 2}", "warning mycroft.conf:3 : a key is repeated"},
	{"\"a\": {\"b\": [{}, \"}\\\"\"], \"\\u0062\": {}}",
		"repeated; its last value counts (column "},
	{"\"a\": {\"b\": 1, \"b\": 2, \"b\": 3, \"c\": 4, \"c\": 5}", "repeated"},
	{"\"a\": {\"\": 1, \"\": 2}", "repeated"},
	{"\"a\": 1, \"b\": 2, \"a\": 3", "repeated"},
	{"\"a\": [NaN,Infinity , -Infinity]",
		"warning mycroft.conf:2 : no number of JSON (column "},
	{"\"a\": {\"b\": -Infinity}", "no number"},
	{"\"a\": \"\\ud800 \\udc00\"", "half of a surrogate pair"},
	{"\"a\": {\"\\udfff\": 1}", "half of a surrogate pair"},
	{"\"PHAL\": {\"other\": NaN}", "as Python's json reads it"},
};

Test(config_foreign, is_read_as_python_reads_it)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		write_beside(taken[i][0]);
		expect_told(taken[i][1]);
		cr_expect_null(config.closed, "%s: %s", taken[i][0], config.closed);
		cr_expect_eq(config.idle_s, 7, "%s", taken[i][0]);
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

Test(config_foreign, is_mended_in_so_many_places_and_no_more)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (unsigned int n = 32; n <= 33; n++) {
		buffer_reset(&text);
		buffer_append_string(&text, "{\"a\": [0");
		for (unsigned int i = 0; i < n; i++)
			buffer_append_string(&text, ",NaN");
		buffer_append_string(&text, "]}");
		write_user_file(buffer_terminate(&text));
		cr_assert_eq(read_all(), 0);
		cr_expect_eq(config.closed != NULL, n > 32);
	}
}
