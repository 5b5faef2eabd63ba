/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/servers.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"
#include "scarce.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* Read the list with these members, with ' in place of ". */
static int read_servers(const char *members, struct mcp_server_entries *entries)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *json = quoted(members);

	buffer_printf(&text, "{\"x\":1,\"mcpServers\":{%s}}", json);
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, 64, NULL), 0, "%s", text.data);
	cr_expect(mcp_is_server_list(&tape));
	return mcp_server_entries_read(&tape, "/home/me", entries);
}

/* Check that the server @members is the manifest @wanted, both with ' in place of ". */
static void expect_manifest(const char *members, const char *wanted)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};
	cleanup_free char *json = quoted(wanted);

	cr_assert_eq(read_servers(members, &entries), 0);
	cr_assert_eq(entries.n_items, 1);
	cr_assert_not_null(entries.items[0].manifest, "%s: %s", members, entries.items[0].reason);
	cr_expect_str_eq(entries.items[0].manifest, json, "%s", entries.items[0].manifest);
	cr_expect_null(entries.items[0].reason);
}

static void expect_refused(const char *server, const char *reason)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};
	cleanup(buffer_deinit) struct buffer members = {0};

	buffer_printf(&members, "'bad':%s,'good':{'command':'x'}", server);
	cr_assert_not_null(buffer_terminate(&members));
	cr_assert_eq(read_servers(members.data, &entries), 0);
	cr_assert_eq(entries.n_items, 2);
	cr_expect_null(entries.items[0].manifest, "%s", server);
	cr_assert_not_null(entries.items[0].reason, "%s", server);
	cr_expect_str_eq(
		entries.items[0].reason, reason, "%s: %s", server, entries.items[0].reason);
	cr_expect_eq(entries.items[0].is_disabled, strcmp(reason, "is disabled") == 0);
	cr_expect_not_null(entries.items[1].manifest, "%s", server);
}

Test(mcp_servers, are_manifests)
{
	expect_manifest("'Files & more': {'command': 'npx', 'args': ['-y', 'fs', '/srv'],"
			"'env': {'KEY': '${env:KEY}'}, 'cwd': '/tmp', 'type': 'stdio'}",
		"{'kind':'mcp','toolbox_id':'Files___more','mcp':{'command':['npx','-y','fs','/"
		"srv'],"
		"'env':{'KEY':'${env:KEY}'},'cwd':'/tmp'}}");
	expect_manifest("'a':{'command':'x'}",
		"{'kind':'mcp','toolbox_id':'a','mcp':{'command':['x'],'cwd':'/home/me'}}");
	expect_manifest("'größe':{'url':'https://x/mcp','headers':{'A':'b'},'type':'http'}",
		"{'kind':'mcp','toolbox_id':'gr__e','mcp':{'url':'https://x/mcp',"
		"'headers':{'A':'b'}}}");
	expect_manifest("'a':{'url':'u','type':'streamable-http','command':null,'headers':null}",
		"{'kind':'mcp','toolbox_id':'a','mcp':{'url':'u'}}");
	expect_manifest("'a':{'url':'u','type':'streamableHttp','disabled':false}",
		"{'kind':'mcp','toolbox_id':'a','mcp':{'url':'u'}}");
}

Test(mcp_servers, get_no_right_by_other_keys)
{
	expect_manifest("'a':{'command':'x','autoApprove':['*'],'alwaysAllow':['rm'],'trust':true,"
			"'timeout':1,'risk':'read','sandbox':{'class':'none'},'kind':'native',"
			"'toolbox_id':'b','include':[],'pin':'off'}",
		"{'kind':'mcp','toolbox_id':'a','mcp':{'command':['x'],'cwd':'/home/me'}}");
}

Test(mcp_servers, that_are_wrong_cost_only_themselves)
{
	static const char *const cases[][2] = {
		{"[]", "is no object"},
		{"{}", "must have either a \"command\" or a \"url\""},
		{"{'command':'x','url':'y'}", "must have either a \"command\" or a \"url\""},
		{"{'command':['x']}", "has a \"command\" that is no string"},
		{"{'command':''}", "has an empty \"command\""},
		{"{'command':'a\\u0000'}", "has a text with U+0000"},
		{"{'command':'x','args':'y'}", "has \"args\" that are no array"},
		{"{'command':'x','args':['y',1]}", "has \"args\" that are not all strings"},
		{"{'command':'x','args':['\\u0000']}", "has a text with U+0000"},
		{"{'command':'x','env':[]}", "has an \"env\" that is no object"},
		{"{'command':'x','env':{'A':1}}",
			"has an \"env\" whose values are not all strings"},
		{"{'command':'x','cwd':1}", "has a \"cwd\" that is no string"},
		{"{'url':1}", "has a \"url\" that is no string"},
		{"{'url':'x','headers':1}", "has \"headers\" that are no object"},
		{"{'url':'x','headers':{'A':null}}",
			"has \"headers\" whose values are not all strings"},
		{"{'url':'x','type':'sse'}",
			"has the type sse, which is not supported: use its URL "
			"for streamable HTTP"},
		{"{'url':'x','type':'stdio'}", "has a type that is not supported: stdio with a "
					       "\"command\", or http with a \"url\""},
		{"{'command':'x','type':'http'}", "has a type that is not supported: stdio with a "
						  "\"command\", or http with a \"url\""},
		{"{'command':'x','type':'ws'}", "has a type that is not supported: stdio with a "
						"\"command\", or http with a \"url\""},
		{"{'command':'x','type':7}", "has a \"type\" that is no string"},
		{"{'command':'x','disabled':true}", "is disabled"},
		{"{'command':7,'disabled':true}", "is disabled"},
		{"{'command':'x','enabled':false}", "is disabled"},
		{"{'command':'x','isActive':false}", "is disabled"},
		{"{'command':'x','enabled':'no'}",
			"has \"enabled\" that is neither true nor false"},
		{"{'command':'x','disabled':'true'}",
			"has \"disabled\" that is neither true nor false"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_refused(cases[i][0], cases[i][1]);
}

Test(mcp_servers, have_ids_of_their_own)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};

	cr_assert_eq(
		read_servers("'a b':{'command':'x'},'a.b':{'command':'y'},'':{'command':'z'},"
			     "'0123456789012345678901234567890123456789012345678901234567890123"
			     "01234567890123456789012345678901234567890123456789012345678901234'"
			     ":{'command':'l'}",
			&entries),
		0);
	cr_assert_eq(entries.n_items, 4);
	cr_expect_str_eq(entries.items[0].id, "a_b");
	cr_expect_not_null(entries.items[0].manifest);
	cr_expect_str_eq(entries.items[1].name, "a.b");
	cr_expect_str_eq(entries.items[1].reason, "has the id of an earlier server");
	for (size_t i = 2; i < 4; i++)
		cr_expect_str_eq(entries.items[i].reason,
			"has a name that is empty, or longer than 128 characters");
}

Test(mcp_servers, have_a_digest_in_an_id_for_a_name_of_another_script)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};

	cr_assert_eq(
		read_servers(
			"'服务器':{'command':'x'},'文件夹':{'command':'y'},'Büro':{'command':'z'}",
			&entries),
		0);
	cr_assert_eq(entries.n_items, 3);
	cr_expect_str_eq(entries.items[0].id, "____2388cb");
	cr_expect_str_eq(entries.items[1].id, "____7c7802");
	cr_expect_str_eq(entries.items[2].id, "B_ro");
	for (size_t i = 0; i < 3; i++)
		cr_expect_not_null(entries.items[i].manifest);
}

Test(mcp_servers, are_at_most_1000)
{
	cleanup(mcp_server_entries_deinit) struct mcp_server_entries entries = {0};
	cleanup(buffer_deinit) struct buffer members = {0};

	for (unsigned int i = 0; i < MCP_SERVERS_MAX + 2; i++)
		buffer_printf(&members, "%s's%u':{'command':'x'}", i == 0 ? "" : ",", i);
	cr_assert_not_null(buffer_terminate(&members));
	cr_assert_eq(read_servers(members.data, &entries), 0);
	cr_expect_eq(entries.n_items, MCP_SERVERS_MAX);
	cr_expect_eq(entries.n_more, 2);
}

Test(mcp_servers, are_an_object)
{
	static const char *const texts[] = {"{\"mcpServers\":[]}", "{\"command\":\"x\"}", "[1]"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		struct mcp_server_entries entries = {0};

		cr_assert_eq(json_tape_read(&tape, texts[i], strlen(texts[i]), 64, NULL), 0);
		cr_expect_eq(mcp_is_server_list(&tape), i == 0);
		if (i < 2)
			cr_expect_eq(mcp_server_entries_read(&tape, "/", &entries), -EINVAL);
	}
}

Test(mcp_servers, survive_that_memory_is_short)
{
	static const char *const text =
		"{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"\\u0041\"]},\"b\":1}}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), 64, NULL), 0);
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct mcp_server_entries entries = {0};
		int r = mcp_server_entries_read(&tape, "/", &entries);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		mcp_server_entries_deinit(&entries);
	}
}

Test(mcp_servers, of_other_programs_have_another_key)
{
	static const char *const rows[][2] = {
		{"{'servers':{}}", "servers"},
		{"{'context_servers':{}}", "context_servers"},
		{"{'mcp_servers':{}}", "mcp_servers"},
		{"{'mcpServers':{}}", NULL},
		{"{'kind':'mcp','servers':{}}", NULL},
		{"{'server':{}}", NULL},
		{"{}", NULL},
		{"['servers']", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup_free char *json = quoted(rows[i][0]);
		const char *key;

		cr_assert_eq(json_tape_read(&tape, json, strlen(json), 8, NULL), 0);
		key = mcp_other_list_key(&tape);
		cr_expect(rows[i][1] ? key && strcmp(key, rows[i][1]) == 0 : !key, "%s", json);
	}
}
