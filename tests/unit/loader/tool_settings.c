/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/tool_settings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "boxes.h"
#include "json/reader.h"
#include "scarce.h"
#include "util/cleanup.h"

/* A tool of libm with these further members. */
#define TOOL(name, more)                                                                           \
	"{'name':'" name "','native':{'symbol':'f','parameters':[],'returns':{'type':'i32'}}" more \
	"}"

static struct config_tool tools[2];
static struct config_toolbox said = {
	.toolbox_id = (char *)"a", .is_enabled = true, .tools = {.items = tools}};
static struct config config = {.toolboxes = &said, .n_toolboxes = 1};

/* Set the settings of @n_tools of tools[], which differ from all others by @digest. */
static void say(size_t n_tools, uint64_t digest)
{
	said.tools.n_items = n_tools;
	said.tools.digest = digest;
}

Test(tool_settings, raise_and_lower_a_risk_and_show_it)
{
	struct toolbox *box =
		make_box("a", TOOL("one", ",'risk':'read'") "," TOOL("two", ",'risk':'execute'"));

	tools[0] = (struct config_tool){.name = (char *)"one", .risk = TOOL_EXECUTE};
	tools[1] = (struct config_tool){.name = (char *)"two", .risk = TOOL_READ};
	say(2, 1);
	cr_expect_not(tool_settings_hold(&config, box));
	cr_assert_eq(tool_settings_apply(&config, box), 0);
	cr_expect(tool_settings_hold(&config, box));
	cr_expect(tool_settings_hold_in(&config, box->package));
	cr_expect_eq(box->tools[0].risk, TOOL_EXECUTE);
	cr_expect_eq(box->tools[1].risk, TOOL_READ);
	cr_expect(strstr(box->tools[0].definition, ",\"risk\":\"execute\""));
	cr_expect(strstr(box->tools[1].definition, ",\"risk\":\"read\""));
	cr_expect_eq(strlen(box->tools[0].definition), box->tools[0].definition_size);
	package_unref(box->package);
}

Test(tool_settings, with_a_risk_are_for_every_call)
{
	struct toolbox *box = make_box("a", TOOL("one", "") "," TOOL("two", ""));

	box->tools[0].asked_key = strdup("x");
	box->tools[1].asked_key = strdup("x");
	tools[0] = (struct config_tool){.name = (char *)"one", .risk = TOOL_EXECUTE};
	tools[1] = (struct config_tool){.name = (char *)"two", .timeout_ms = 7};
	say(2, 1);
	cr_assert_eq(tool_settings_apply(&config, box), 0);
	cr_expect_null(box->tools[0].asked_key);
	cr_expect_str_eq(box->tools[1].asked_key, "x");
	package_unref(box->package);
}

Test(tool_settings, replace_every_member_and_keep_the_others)
{
	char *triggers[] = {(char *)"ring.*bell"};
	struct toolbox *box = make_box(
		"a", TOOL("one", ",'triggers':['old'],'parallel':true,'timeout_ms':5,"
				 "'cooldown_s':1,'description':'Old.'") "," TOOL("two", ""));
	struct tool *tool = &box->tools[0];
	char *other = strdup(box->tools[1].definition);

	tools[0] = (struct config_tool){.name = (char *)"one",
		.timeout_ms = 7,
		.has_cooldown = true,
		.cooldown_s = 0,
		.has_parallel = true,
		.is_parallel = false,
		.description = (char *)"New \"words\".",
		.has_triggers = true,
		.triggers = {triggers, 1}};
	say(1, 3);
	cr_assert_eq(tool_settings_apply(&config, box), 0);
	cr_expect(tool->timeout_ms == 7 && tool->cooldown_s == 0 && !tool->is_parallel);
	cr_expect_str_eq(tool->description, "New \"words\".");
	cr_expect_eq(tool->triggers.n_items, 1);
	cr_expect(strstr(tool->definition, "\"description\":\"New \\\"words\\\".\""));
	cr_expect(strstr(tool->definition, ",\"parallel\":false,\"triggers\":[\"ring.*bell\"]}"),
		"%s", tool->definition);
	cr_expect_not(strstr(tool->definition, "risk"), "it stays unrated");
	cr_expect_str_eq(box->tools[1].definition, other);
	free(other);
	package_unref(box->package);
}

Test(tool_settings, no_longer_hold_when_they_are_withdrawn)
{
	struct toolbox *box = make_box("a", TOOL("one", ""));

	tools[0] = (struct config_tool){.name = (char *)"one", .risk = TOOL_WRITE};
	say(1, 5);
	cr_assert_eq(tool_settings_apply(&config, box), 0);
	say(0, 0);
	cr_expect_not(tool_settings_hold(&config, box));
	cr_expect_not(tool_settings_hold_in(&config, box->package));
	package_unref(box->package);
}

Test(tool_settings, keep_the_members_of_a_definition_that_they_do_not_replace)
{
	struct toolbox *box = make_box(
		"a", TOOL("one", ",'title':'A title','idempotent':true,'destructive':false,"
				 "'risk':'write','triggers':['x'],'parallel':true,"
				 "'examples':[{'args':{}}]"));
	cleanup(json_tape_cleanup) struct json_tape before = {0};
	cleanup(json_tape_cleanup) struct json_tape after = {0};
	cleanup_free char *old = strdup(box->tools[0].definition);

	cr_assert_eq(json_tape_read(&before, old, strlen(old), JSON_DEPTH_DEFAULT, NULL), 0);
	tools[0] = (struct config_tool){.name = (char *)"one", .description = (char *)"New."};
	say(1, 5);
	cr_assert_eq(tool_settings_apply(&config, box), 0);
	cr_assert_eq(json_tape_read(&after, box->tools[0].definition, box->tools[0].definition_size,
			     JSON_DEPTH_DEFAULT, NULL),
		0, "%s", box->tools[0].definition);
	cr_expect_eq(json_count(&after, 0), json_count(&before, 0), "%s", box->tools[0].definition);
	json_each_key(key, &before, 0) {
		cleanup_free char *name = json_string_dup(&before, key, NULL);
		uint32_t value = json_find(&after, 0, name);
		size_t size;
		size_t new_size;
		const char *text = json_value_text(&before, key + 1, &size);
		const char *new_text;

		cr_assert_neq(value, JSON_NONE, "%s is missing", name);
		new_text = json_value_text(&after, value, &new_size);
		if (strcmp(name, "description") == 0)
			cr_expect_eq(memcmp(new_text, "\"New.\"", new_size), 0);
		else
			cr_expect(size == new_size && memcmp(text, new_text, size) == 0, "%s: %.*s",
				name, (int)new_size, new_text);
	}
	package_unref(box->package);
}

Test(tool_settings, are_applied_or_memory_is_short)
{
	char *triggers[] = {(char *)"ring.*bell"};
	size_t n = 0;
	bool goes_on = true;

	tools[0] = (struct config_tool){.name = (char *)"one",
		.risk = TOOL_WRITE,
		.description = (char *)"New.",
		.has_triggers = true,
		.triggers = {triggers, 1}};
	say(1, 5);
	while (goes_on) {
		struct toolbox *box = make_box("a", TOOL("one", "") "," TOOL("two", ""));
		int r;

		goes_on = scarce_once_after(n++);
		r = tool_settings_apply(&config, box);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(tool_settings_hold(&config, box), r == 0);
		if (r == 0)
			cr_expect(strstr(box->tools[0].definition,
					  ",\"risk\":\"write\",\"triggers\":[\"ring.*bell\"]}"),
				"%s", box->tools[0].definition);
		package_unref(box->package);
	}
	cr_expect_gt(n, 5);
}
