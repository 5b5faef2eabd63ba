/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_fixture.h"
#include "mcp/client/servers.h"
#include "scarce.h"
#include "util/environment.h"

/* Manifests of the kind mcp: how a server is run, and what is chosen of its tools. */

static void set_up(void)
{
	static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
		"all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"};

	manifest_set_up();
	for (size_t i = 0; i < sizeof(proxies) / sizeof(*proxies); i++)
		unsetenv(proxies[i]);
}

TestSuite(manifest_mcp, .init = set_up, .fini = manifest_tear_down, .timeout = 60);

/* A manifest with these members of `mcp`. */
#define SERVER(members) "{'kind':'mcp','mcp':{" members "}}"

/* Expect the JSON text @actual to be @format with the test's folder in place of each `@`. */
static void expect_text(const char *actual, const char *format)
{
	cleanup(buffer_deinit) struct buffer expected = {0};
	const char *folder = manifest_path("");

	for (; *format; format++) {
		if (*format == '@')
			buffer_append(&expected, folder, strlen(folder) - 1);
		else
			buffer_append_char(&expected, *format == '\'' ? '"' : *format);
	}
	cr_expect_str_eq(actual, buffer_terminate(&expected), "%s", actual);
}

Test(manifest_mcp, runs_a_program_in_the_folder_of_its_manifest)
{
	static const struct {
		const char *manifest;
		const char *server;
		const char *origin;
	} cases[] = {
		{SERVER("'command':['npx','-y','./server']"),
			"{'argv':['npx','-y','./server'],'cwd':'@'}", "npx"},
		{SERVER("'command':['./bin/server']"), "{'argv':['@/./bin/server'],'cwd':'@'}",
			"server"},
		{SERVER("'command':['bin/server'],'cwd':'work'"),
			"{'argv':['@/bin/server'],'cwd':'@/work'}", "server"},
		{SERVER("'command':['/usr/bin/env','x'],'cwd':'/srv'"),
			"{'argv':['/usr/bin/env','x'],'cwd':'/srv'}", "env"},
		{SERVER("'command':['x'],'env':{'A':'1','B':'${env:HOME}'}"),
			"{'argv':['x'],'cwd':'@','env':{'A':'1','B':'${env:HOME}'}}", "x"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_good(cases[i].manifest);
		expect_text(package->mcp.server, cases[i].server);
		cr_expect_str_eq(package->mcp.origin, cases[i].origin);
		cr_expect_not(package->mcp.is_http);
	}
}

Test(manifest_mcp, reaches_a_server_over_http)
{
	read_good(SERVER("'url':'https://x.example/mcp','headers':{'A':'b'},"
			 "'proxy':'http://p:1','ca':'ca.pem'"));
	expect_text(package->mcp.server, "{'url':'https://x.example/mcp','headers':{'A':'b'},"
					 "'proxy':'http://p:1','ca':'@/ca.pem'}");
	cr_expect(package->mcp.is_http);
	read_good(SERVER("'url':'https://x.example/mcp','ca':'/etc/ca.pem'"));
	expect_text(package->mcp.server, "{'url':'https://x.example/mcp','ca':'/etc/ca.pem'}");
	read_good(SERVER("'url':'http://x'"));
	expect_text(package->mcp.server, "{'url':'http://x'}");
}

Test(manifest_mcp, shows_people_no_secret_of_a_url)
{
	static const char *const cases[][2] = {
		{"https://x.example/mcp/secret", "https://x.example"},
		{"https://me:pw@x.example:8443/a", "https://***@x.example:8443"},
		{"http://x.example?token=secret", "http://x.example"},
		{"http://x.example#secret", "http://x.example"},
	};
	char manifest[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(manifest, sizeof(manifest), "{'kind':'mcp','mcp':{'url':'%s'}}",
			cases[i][0]);
		read_good(manifest);
		cr_expect_str_eq(package->mcp.origin, cases[i][1]);
	}
}

Test(manifest_mcp, keeps_the_variables_that_a_server_means)
{
	const char *variables;

	setenv("ONE", "first", 1);
	setenv("TWO", "second", 1);
	setenv("NO_PROXY", "localhost", 1);
	unsetenv("NONE");
	read_good(SERVER("'command':['x'],'env':{'A':'${env:ONE}','B':'-${env:TWO}-${env:ONE}',"
			 "'C':'${env:NONE}','D':'${file:/x}'}"));
	variables = package->mcp.variables;
	cr_assert_not_null(variables);
	cr_expect_eq(environment_count(variables), 2);
	cr_expect_str_eq(variables, "ONE=first");
	cr_expect_str_eq(environment_next(variables), "TWO=second");
	read_good(SERVER("'command':['x'],'env':{'A':'plain'}"));
	cr_expect_null(package->mcp.variables);
	read_good(SERVER("'url':'http://${env:ONE}','headers':{'H':'${env:TWO}'}"));
	cr_expect_eq(environment_count(package->mcp.variables), 3, "those of proxies, too");
	cr_expect(environment_names(package->mcp.variables, "NO_PROXY="));
}

Test(manifest_mcp, takes_the_choice_among_its_tools_as_it_is)
{
	read_good("{'kind':'mcp','mcp':{'command':['x'],'grace_s':7},'include':['a*'],"
		  "'exclude':['b'],'tools':{'a':{'risk':'read'}},'resources':true,'pin':'block'}");
	cr_expect_str_eq(package->mcp.rules,
		"{\"include\":[\"a*\"],\"exclude\":[\"b\"],\"tools\":{\"a\":{\"risk\":\"read\"}}}");
	cr_expect_eq(package->mcp.grace_s, 7);
	cr_expect(package->mcp.has_resources);
	cr_expect_eq(package->mcp.pin, MCP_PIN_BLOCK);
	read_good(SERVER("'command':['x']"));
	cr_expect_str_eq(package->mcp.rules, "{}");
	cr_expect_eq(package->mcp.grace_s, 300);
	cr_expect_not(package->mcp.has_resources);
	cr_expect_eq(package->mcp.pin, MCP_PIN_WARN);
	read_good("{'kind':'mcp','mcp':{'command':['x']},'pin':'off','resources':false,"
		  "'exclude':[]}");
	cr_expect_eq(package->mcp.pin, MCP_PIN_OFF);
	cr_expect_not(package->mcp.has_resources);
	cr_expect_str_eq(package->mcp.rules, "{\"exclude\":[]}");
}

Test(manifest_mcp, refuses_texts_that_would_be_several_lines)
{
	static const char complaint[] = "must be one line of text, without control characters";
	static const char *const cases[][2] = {
		{SERVER("'url':'http://x\\u000d\\u000aHost: y'"), "/mcp/url"},
		{SERVER("'url':'http://x\\u007f'"), "/mcp/url"},
		{SERVER("'url':'http://x','proxy':'http://p\\u0000'"), "/mcp/proxy"},
		{SERVER("'url':'http://x','headers':{'A':'good','B':'a\\u000ab'}"),
			"/mcp/headers/B"},
		{SERVER("'url':'http://x','headers':{'A':'\\u0009'}"), "/mcp/headers/A"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_refused(cases[i][0], 1, cases[i][1], complaint);
}

Test(manifest_mcp, refuses_a_shape_that_is_none)
{
	static const char *const wrong[] = {
		"{'kind':'mcp'}",
		SERVER(""),
		SERVER("'command':[]"),
		SERVER("'command':'npx x'"),
		SERVER("'command':['x'],'url':'http://x'"),
		SERVER("'command':['x'],'headers':{}"),
		SERVER("'command':['x'],'ca':'x'"),
		SERVER("'url':'http://x','env':{}"),
		SERVER("'url':'http://x','cwd':'/'"),
		SERVER("'url':'ftp://x'"),
		SERVER("'url':'http://x','headers':{'A B':'c'}"),
		SERVER("'url':'http://x','headers':{'A':5}"),
		SERVER("'command':['x'],'grace_s':0"),
		SERVER("'command':['x'],'grace_s':86401"),
		SERVER("'command':['x'],'grace_s':1.5"),
		"{'kind':'mcp','mcp':{'command':['x']},'pin':'maybe'}",
		"{'kind':'mcp','mcp':{'command':['x']},'include':'a'}",
		"{'kind':'mcp','mcp':{'command':['x']},'resources':1}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		manifest_write("box.json", wrong[i]);
		cr_expect_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED, "%s", wrong[i]);
		cr_expect_gt(problems.n_errors, 0);
	}
}

Test(manifest_mcp, is_not_read_by_half_when_memory_is_short)
{
	size_t n = 0;

	setenv("ONE", "first", 1);
	manifest_write("box.json", SERVER("'url':'http://${env:ONE}/','headers':{'A':'b'}"));
	for (; scarce_once_after(n); n++) {
		int r = manifest_read_again("box.json");
		bool has_failed = scarce_has_failed();

		if (r == 0) {
			expect_text(package->mcp.server,
				"{'url':'http://${env:ONE}/','headers':{'A':'b'}}");
			cr_expect_str_eq(package->mcp.variables, "ONE=first", "after %zu", n);
		} else {
			cr_expect(has_failed && r == -ENOMEM, "after %zu: %d", n, r);
		}
	}
	cr_expect_gt(n, 20);
}

/* ── a list of servers ───────────────────────────────────────────────────────────────────────── */

/* Read the list @text, and return the status of its servers. */
static int read_list(const char *text, struct mcp_server_entries *entries)
{
	cleanup(manifest_reader_cleanup) struct manifest_reader *reader = manifest_reader_new(NULL);
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	struct package *none = NULL;

	manifest_write("list.json", text);
	cr_assert_eq(manifest_read(reader, manifest_path("list.json"), &none, &found),
		MANIFEST_IS_LIST, "%s", text);
	cr_expect_null(none);
	return manifest_read_servers(reader, entries, &found);
}

Test(manifest_mcp, reads_each_server_of_a_list)
{
	struct mcp_server_entries entries = {0};

	cr_assert_eq(read_list("{'mcpServers':{'one':{'command':'npx','args':['a']},"
			       "'two':{'url':'http://x'},'bad':{},'off':{'command':'x',"
			       "'disabled':true}},'other':1}",
			     &entries),
		0);
	cr_assert_eq(entries.n_items, 4);
	cr_expect_str_eq(entries.items[0].name, "one");
	cr_expect_not_null(entries.items[0].manifest);
	cr_expect_not_null(entries.items[1].manifest);
	cr_expect_null(entries.items[2].manifest);
	cr_expect_not_null(entries.items[2].reason);
	cr_expect(entries.items[3].is_disabled);
	mcp_server_entries_deinit(&entries);
}

Test(manifest_mcp, runs_a_server_of_a_list_in_the_home_or_reports_that_memory_is_short)
{
	cleanup(manifest_reader_cleanup) struct manifest_reader *reader = manifest_reader_new(NULL);
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	struct package *none = NULL;
	size_t n = 0;

	setenv("HOME", "/home/me", 1);
	manifest_write("list.json", "{'mcpServers':{'one':{'command':'run'}}}");
	cr_assert_eq(
		manifest_read(reader, manifest_path("list.json"), &none, &found), MANIFEST_IS_LIST);
	for (; scarce_once_after(n); n++) {
		struct mcp_server_entries entries = {0};
		int r = manifest_read_servers(reader, &entries, &found);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect(strstr(entries.items[0].manifest, "/home/me"), "%zu: %s", n,
				entries.items[0].manifest);
		mcp_server_entries_deinit(&entries);
	}
	cr_expect_gt(n, 5);
}

Test(manifest_mcp, refuses_a_list_that_is_no_object)
{
	static const char *const wrong[] = {
		"{'mcpServers':[]}", "{'mcpServers':5}", "{'mcpServers':null}"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct mcp_server_entries entries = {0};

		cr_expect_eq(read_list(wrong[i], &entries), MANIFEST_E_REFUSED, "%s", wrong[i]);
		cr_expect_eq(entries.n_items, 0);
		mcp_server_entries_deinit(&entries);
	}
}
