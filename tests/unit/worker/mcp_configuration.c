/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/configuration.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../scratch.h"
#include "scarce.h"
#include "util/cleanup.h"

/* The server in a LOAD frame. JSON is written with ' in place of ". */

static struct mcp_configuration configuration;
static struct diagnostics problems;

static void set_up(void)
{
	scratch_set_up();
	scratch_write("secret", "from-a-file\n");
	setenv("UNIT_WORD", "from-a-variable", 1);
	cr_assert_eq(chdir(scratch_folder), 0);
}

static void tear_down(void)
{
	mcp_configuration_deinit(&configuration);
	diagnostics_deinit(&problems);
	scratch_tear_down();
}

TestSuite(mcp_configuration, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return the frame @text with the time for the start, which every frame has. */
static char *timed(const char *text)
{
	char frame[2048];

	cr_assert_lt(snprintf(frame, sizeof(frame), "{'start_timeout_ms':60000,%s", text + 1),
		(int)sizeof(frame));
	return quoted(frame);
}

static int read_json(const char *json)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	mcp_configuration_deinit(&configuration);
	configuration = (struct mcp_configuration){0};
	diagnostics_deinit(&problems);
	problems = (struct diagnostics){0};
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	return mcp_configuration_read(
		&(struct driver_load){.tape = &tape, .text = json, .text_size = strlen(json)},
		&configuration, &problems);
}

static int read_frame(const char *text)
{
	cleanup_free char *json = timed(text);

	return read_json(json);
}

/* Return the value of the variable @name for the server, or NULL. */
static const char *variable(const char *name)
{
	for (char **entry = configuration.environment; *entry; entry++)
		if (strncmp(*entry, name, strlen(name)) == 0 && (*entry)[strlen(name)] == '=')
			return *entry + strlen(name) + 1;
	return NULL;
}

static bool is_masked(const char *text)
{
	return mcp_secrets_are_in(&configuration.secrets, text, strlen(text));
}

/* ── a program ───────────────────────────────────────────────────────────────────────────────── */

Test(mcp_configuration, has_the_program_with_its_arguments)
{
	cr_assert_eq(read_frame("{'mcp':{'argv':['server','-x',''],'cwd':'/'}}"), 0);
	cr_expect_str_eq(configuration.arguments[0], "server");
	cr_expect_str_eq(configuration.arguments[1], "-x");
	cr_expect_str_eq(configuration.arguments[2], "");
	cr_expect_null(configuration.arguments[3]);
	cr_expect_str_eq(configuration.command.cwd, "/");
	cr_expect_eq(configuration.start_ms, 57000);
	cr_expect_null(configuration.url);
	cr_expect_null(configuration.headers);
	cr_expect(!configuration.is_described);
	cr_expect(!configuration.is_legacy);
	cr_expect(!configuration.has_resources);
	cr_expect_eq(configuration.list, 0);
}

Test(mcp_configuration, gives_the_server_our_variables_after_its_own)
{
	setenv("UNIT_OURS", "ours", 1);
	cr_assert_eq(
		read_frame("{'mcp':{'argv':['x'],'env':{'UNIT_WORD':'its','UNIT_NEW':'=='}}}"), 0);
	cr_expect_str_eq(configuration.environment[0], "UNIT_WORD=its");
	cr_expect_str_eq(variable("UNIT_WORD"), "its");
	cr_expect_str_eq(variable("UNIT_NEW"), "==");
	cr_expect_str_eq(variable("UNIT_OURS"), "ours");
	cr_expect_null(variable("UNIT_NONE"));
}

Test(mcp_configuration, fills_in_the_secrets_that_variables_name)
{
	cr_assert_eq(read_frame("{'mcp':{'argv':['x'],'env':{'A':'<${file:secret}>',"
				"'B':'${env:UNIT_WORD}','C':'$${x}'}}}"),
		0);
	cr_expect_str_eq(variable("A"), "<from-a-file>");
	cr_expect_str_eq(variable("B"), "from-a-variable");
	cr_expect_str_eq(variable("C"), "${x}");
	cr_expect(is_masked("it says from-a-file"));
	cr_expect(is_masked("it says from-a-variable"));
	cr_expect(!is_masked("it says ${x}"));
}

Test(mcp_configuration, says_which_secret_is_missing_and_not_what_it_is)
{
	static const struct {
		const char *frame;
		const char *part;
	} rows[] = {
		{"{'mcp':{'argv':['x'],'env':{'A':'${file:none}'}}}", "the variable A: "},
		{"{'mcp':{'argv':['x'],'env':{'A':'${file:none}'}}}", "No such file"},
		{"{'mcp':{'argv':['x'],'env':{'A':'1','B':'${env:NONE}'}}}", "the variable B: "},
		{"{'mcp':{'argv':['x'],'env':{'A':'${env:UNIT_LONG}'}}}", "the variable A: "},
		{"{'mcp':{'argv':['x'],'env':{'A':'${file:large}'}}}", "the variable A: "},
		{"{'mcp':{'url':'http://x/','headers':{'A':'${file:none}'}}}", "none"},
		{"{'mcp':{'url':'http://x/${env:NONE}'}}", "NONE"},
		{"{'mcp':{'url':'http://x/','proxy':'${env:NONE}'}}", "NONE"},
		{"{'mcp':{'url':'http://x/','headers':{'A':'${file:lines}'}}}", "lines"},
	};
	cleanup_free char *large = malloc(MCP_SECRET_BYTES + 2);

	memset(large, 'y', MCP_SECRET_BYTES + 1);
	large[MCP_SECRET_BYTES + 1] = '\0';
	setenv("UNIT_LONG", large, 1);
	scratch_write("large", large);
	scratch_write("lines", "one\nyyy\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_expect_eq(read_frame(rows[i].frame), DRIVER_E_REFUSED, "%s", rows[i].frame);
		cr_assert_eq(problems.n_items, 1, "%s", rows[i].frame);
		cr_expect(strstr(problems.items[0].text, rows[i].part), "%s: %s", rows[i].frame,
			problems.items[0].text);
		cr_expect_null(strstr(problems.items[0].text, "yyy"));
	}
}

Test(mcp_configuration, takes_the_longest_secret_there_may_be)
{
	cleanup_free char *large = malloc(MCP_SECRET_BYTES + 1);

	memset(large, 'y', MCP_SECRET_BYTES);
	large[MCP_SECRET_BYTES] = '\0';
	setenv("UNIT_LONG", large, 1);
	cr_assert_eq(read_frame("{'mcp':{'argv':['x'],'env':{'A':'${env:UNIT_LONG}'}}}"), 0);
	cr_expect_str_eq(variable("A"), large);
}

Test(mcp_configuration, masks_values_that_are_secrets_by_their_names)
{
	static const struct {
		const char *entry; /* 'NAME':'VALUE' */
		const char *text;
		bool is_masked;
	} rows[] = {
		{"'API_KEY':'12345678'", "12345678", true},
		{"'API_KEY':'1234567'", "1234567", false},
		{"'PLAIN':'12345678'", "12345678", false},
		{"'my_Passwd':'12345678'", "12345678", true},
		{"'AUTHORIZATION':'Bearer 12345678'", "12345678", true},
		{"'AUTHORIZATION':'bearer 12345678'", "12345678", true},
		{"'AUTHORIZATION':'token 12345678'", "12345678", true},
		{"'AUTHORIZATION':'Bearer 1234567'", "1234567", false},
		{"'AUTHORIZATION':'Other 12345678'", " 12345678", false},
		/* user:pass-word */
		{"'AUTHORIZATION':'Basic dXNlcjpwYXNzLXdvcmQ='", "dXNlcjpwYXNzLXdvcmQ", true},
		{"'AUTHORIZATION':'Basic dXNlcjpwYXNzLXdvcmQ='", "so pass-word it is", true},
		/* no-colon, in base64 */
		{"'AUTHORIZATION':'Basic bm8tY29sb24='", "no-colon", false},
	};
	char frame[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(frame, sizeof(frame), "{'mcp':{'argv':['x'],'env':{%s}}}", rows[i].entry);
		cr_assert_eq(read_frame(frame), 0);
		cr_expect_eq(is_masked(rows[i].text), rows[i].is_masked, "env %s: %s",
			rows[i].entry, rows[i].text);
		snprintf(frame, sizeof(frame), "{'mcp':{'url':'http://x/','headers':{%s}}}",
			rows[i].entry);
		cr_assert_eq(read_frame(frame), 0);
		cr_expect_eq(is_masked(rows[i].text), rows[i].is_masked, "header %s: %s",
			rows[i].entry, rows[i].text);
	}
}

Test(mcp_configuration, masks_inherited_secrets_unless_the_server_has_its_own)
{
	setenv("UNIT_TOKEN", "inherited-one", 1);
	cr_assert_eq(read_frame("{'mcp':{'argv':['x']}}"), 0);
	cr_expect(is_masked("inherited-one"));
	cr_assert_eq(read_frame("{'mcp':{'argv':['x'],'env':{'UNIT_TOKEN':'its-own-one'}}}"), 0);
	cr_expect(!is_masked("inherited-one"));
	cr_expect(is_masked("its-own-one"));
}

/* ── over HTTP ───────────────────────────────────────────────────────────────────────────────── */

Test(mcp_configuration, has_the_address_with_its_headers)
{
	cr_assert_eq(read_frame("{'mcp':{'url':'https://x/?k=${env:UNIT_WORD}','proxy':"
				"'http://p:${file:secret}@y/','ca':'/ca.pem','headers':{"
				"'X-One':'1','Authorization':'Bearer ${file:secret}'}}}"),
		0);
	cr_expect_str_eq(configuration.url, "https://x/?k=from-a-variable");
	cr_expect_str_eq(configuration.proxy, "http://p:from-a-file@y/");
	cr_expect_str_eq(configuration.ca, "/ca.pem");
	cr_expect_str_eq(configuration.headers[0], "X-One: 1");
	cr_expect_str_eq(configuration.headers[1], "Authorization: Bearer from-a-file");
	cr_expect_null(configuration.headers[2]);
	cr_expect_null(configuration.environment);
	cr_assert_eq(read_frame("{'mcp':{'url':'https://x/','headers':{}}}"), 0);
	cr_expect_null(configuration.headers[0]);
	cr_assert_eq(read_frame("{'mcp':{'url':'https://x/'}}"), 0);
	cr_expect_null(configuration.headers[0]);
	cr_expect_null(configuration.proxy);
	cr_expect_null(configuration.ca);
}

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_configuration, finds_each_tool_by_its_name)
{
	static const char *const names[] = {"m", "a", "z", "ab", "", "M"};
	static const char *const others[] = {"b", "aa", "zz", "abc", "l", "n", "A"};

	cr_assert_eq(read_frame("{'mcp':{'argv':['x']},'tools':[{'name':'m','pin':'00'},"
				"{'name':'a','pin':'01','reads':true},{'name':'z','pin':'02'},"
				"{'name':'ab','pin':'03'},{'name':'','pin':'04'},"
				"{'name':'M','pin':'05'}]}"),
		0);
	cr_expect(configuration.is_described);
	cr_assert_eq(configuration.n_tools, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct listed_tool *tool = mcp_configuration_find(&configuration, names[i]);

		cr_assert_eq(tool, &configuration.tools[i], "%s", names[i]);
		cr_expect_eq(tool->pin[1], (char)('0' + i));
		cr_expect_eq(tool->only_reads, i == 1);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_null(mcp_configuration_find(&configuration, others[i]), "%s", others[i]);
}

Test(mcp_configuration, may_have_a_list_without_tools)
{
	cr_assert_eq(read_frame("{'mcp':{'argv':['x']},'tools':[]}"), 0);
	cr_expect(configuration.is_described);
	cr_expect_null(mcp_configuration_find(&configuration, "a"));
}

Test(mcp_configuration, has_what_the_daemon_knows_of_the_last_session)
{
	cr_assert_eq(read_frame("{'mcp':{'argv':['x']},'legacy':true,'resources':true,"
				"'digest':18446744073709551615}"),
		0);
	cr_expect(configuration.is_legacy);
	cr_expect(configuration.has_resources);
	cr_expect_eq(configuration.list, UINT64_MAX);
	cr_assert_eq(read_frame("{'mcp':{'argv':['x']},'legacy':false,'resources':false}"), 0);
	cr_expect(!configuration.is_legacy);
	cr_expect(!configuration.has_resources);
}

/* ── mistakes ────────────────────────────────────────────────────────────────────────────────── */

Test(mcp_configuration, refuses_frames_that_no_daemon_sends)
{
	static const struct {
		const char *frame;
		int status;
	} rows[] = {
		{"{'legacy':true}", -EPROTO},
		{"{'mcp':{'argv':['x']},'digest':-1}", -EPROTO},
		{"{'mcp':{'argv':['x']},'digest':18446744073709551616}", -EPROTO},
		{"{'mcp':{'argv':['x']},'tools':[{'name':'a'}]}", -EPROTO},
		{"{'mcp':{'argv':['x']},'tools':[{'pin':'00'}]}", -EPROTO},
		{"{'mcp':{'argv':['x']},'tools':[{'name':'b','pin':'00'},{'name':'a'}]}", -EPROTO},
		{"{'mcp':{}}", DRIVER_E_REFUSED},
		{"{'mcp':{'argv':[]}}", DRIVER_E_REFUSED},
		{"{'mcp':{'argv':[5]}}", DRIVER_E_REFUSED},
		{"{'mcp':{'argv':['x'],'env':{'A':5}}}", DRIVER_E_REFUSED},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect_eq(read_frame(rows[i].frame), rows[i].status, "%s", rows[i].frame);
	cr_expect_eq(read_json("{\"mcp\":{\"argv\":[\"x\"]}}"), -EPROTO, "no time");
}

Test(mcp_configuration, fails_without_a_leak_when_memory_is_short)
{
	static const char *const frames[] = {
		"{'mcp':{'argv':['x','y'],'env':{'A':'${file:secret}'}},"
		"'tools':[{'name':'b','pin':'00'},{'name':'a','pin':'01'}]}",
		"{'mcp':{'url':'http://x/','proxy':'http://y/','ca':'/z',"
		"'headers':{'A':'1','Token':'Basic dXNlcjpwYXNzLXdvcmQ='}},"
		"'tools':[{'name':'b','pin':'00'}]}",
	};

	for (size_t i = 0; i < 2; i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup_free char *json = timed(frames[i]);
		const struct driver_load load = {.tape = &tape, .text = json};
		size_t n = 0;

		clearenv();
		setenv("API_KEY", "inherited", 1);
		cr_assert_eq(
			json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
		for (; scarce_once_after(n); n++) {
			struct mcp_configuration scarce = {0};
			int r = mcp_configuration_read(&load, &scarce, &problems);

			if (scarce_has_failed())
				cr_expect_eq(r, -ENOMEM, "%zu, %zu", i, n);
			else
				cr_expect_eq(r, 0);
			mcp_configuration_deinit(&scarce);
		}
		cr_expect_gt(n, 8);
	}
}
