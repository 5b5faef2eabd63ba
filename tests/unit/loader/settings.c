/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/settings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "manifest_fixture.h"
#include "quotes.h"
#include "scarce.h"
#include "util/environment.h"

/* The effect of `toolboxes.ID` of the configuration on a manifest and its tools. */

static char *tool_lack;
static struct config_toolbox settings;
static struct config config = {.toolboxes = &settings, .n_toolboxes = 1};

static void set_up(void)
{
	manifest_set_up();
	settings = (struct config_toolbox){
		.toolbox_id = (char *)"box", .is_enabled = true, .digest = 1};
}

static void tear_down(void)
{
	free(settings.config);
	settings.config = NULL;
	manifest_tear_down();
}

TestSuite(settings, .init = set_up, .fini = tear_down, .timeout = 60);

/* Read @manifest and apply the settings with the keys @own for the toolbox itself. */
static void apply_to(const char *manifest, const char *own)
{
	read_good(manifest);
	free(settings.config);
	settings.config = own ? quoted(own) : NULL;
	cr_assert_eq(settings_apply(&config, package), 0);
}

#define PLUGIN(more) "{'kind':'plugin','library':'libm.so.6'" more "}"
#define SERVER(more) "{'kind':'mcp','mcp':{'command':['x']}" more "}"

/* ── kinds with a configuration of their own ─────────────────────────────────────────────────── */

Test(settings, are_merged_into_the_configuration_of_a_manifest)
{
	static const char *const cases[][3] = {
		{PLUGIN(""), "{'a':1}", "{\"a\":1}"},
		{PLUGIN(",'config':{'a':1,'b':2}"), "{'b':3,'c':[4]}",
			"{\"a\":1,\"b\":3,\"c\":[4]}"},
		{PLUGIN(",'config':{'deep':{'x':1,'y':2}}"), "{'deep':{'y':3}}",
			"{\"deep\":{\"x\":1,\"y\":3}}"},
		{PLUGIN(",'config':{'a':1}"), NULL, "{\"a\":1}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		apply_to(cases[i][0], cases[i][1]);
		cr_expect_str_eq(package->config, cases[i][2], "%s", package->config);
	}
}

Test(settings, of_another_toolbox_do_not_count)
{
	settings.toolbox_id = (char *)"boxes";
	apply_to(PLUGIN(",'config':{'a':1}"), "{'a':2}");
	cr_expect_str_eq(package->config, "{\"a\":1}");
	cr_expect_eq(package->settings, 0);
}

Test(settings, replace_limits_that_they_have)
{
	static const char manifest[] = PLUGIN(",'limits':{'queue':5,'timeout_ms':100}");

	settings.limits.queue = 9;
	settings.digest = 77;
	apply_to(manifest, NULL);
	cr_expect_eq(package->limits.queue, 9);
	cr_expect_eq(package->limits.timeout_ms, 100);
	cr_expect_eq(package->settings, 77);
}

/* ── servers ─────────────────────────────────────────────────────────────────────────────────── */

Test(settings, replace_the_choice_among_the_tools_of_a_server)
{
	static const char *const cases[][3] = {
		{SERVER(""), "{}", "{}"},
		{SERVER(",'include':['a']"), "{}", "{\"include\":[\"a\"]}"},
		{SERVER(",'include':['a'],'exclude':['b']"), "{'include':['c']}",
			"{\"include\":[\"c\"],\"exclude\":[\"b\"]}"},
		{SERVER(",'exclude':['b']"), "{'exclude':[]}", "{\"exclude\":[]}"},
		/* A list of another type lets nothing through. */
		{SERVER(",'exclude':['b']"), "{'exclude':'x'}", "{\"exclude\":[\"*\"]}"},
		{SERVER(",'exclude':['b']"), "{'exclude':['x',5]}", "{\"exclude\":[\"*\"]}"},
		{SERVER(",'tools':{'a':{'risk':'read'}}"), "{'include':['a']}",
			"{\"include\":[\"a\"],\"tools\":{\"a\":{\"risk\":\"read\"}}}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		apply_to(cases[i][0], cases[i][1]);
		cr_expect_str_eq(
			package->mcp.rules, cases[i][2], "row %zu: %s", i, package->mcp.rules);
	}
}

Test(settings, include_no_tool_where_the_list_is_none)
{
	apply_to(SERVER(""), "{'include':5}");
	cr_expect_str_neq(package->mcp.rules, "{}");
	cr_expect_null(strstr(package->mcp.rules, "*"), "%s", package->mcp.rules);
}

Test(settings, replace_the_pin_the_risk_and_the_resources_of_a_server)
{
	static const struct {
		const char *manifest;
		const char *own;
		enum mcp_pin_mode pin;
		enum tool_risk risk;
		bool has_resources;
	} cases[] = {
		{SERVER(""), "{}", MCP_PIN_WARN, TOOL_UNRATED, false},
		{SERVER(",'pin':'block','risk':'read','resources':true"), "{}", MCP_PIN_BLOCK,
			TOOL_READ, true},
		{SERVER(",'pin':'block','risk':'read','resources':true"),
			"{'pin':'off','risk':'write','resources':false}", MCP_PIN_OFF, TOOL_WRITE,
			false},
		/* An unknown value counts as the most careful one. */
		{SERVER(""), "{'pin':'nonsense','risk':'nonsense','resources':'yes'}",
			MCP_PIN_BLOCK, TOOL_EXECUTE, false},
		{SERVER(",'risk':'read'"), "{'risk':5}", MCP_PIN_WARN, TOOL_EXECUTE, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		apply_to(cases[i].manifest, cases[i].own);
		cr_expect_eq(package->mcp.pin, cases[i].pin, "row %zu", i);
		cr_expect_eq(package->risk, cases[i].risk, "row %zu: %d", i, package->risk);
		cr_expect_eq(package->mcp.has_resources, cases[i].has_resources, "row %zu", i);
	}
}

Test(settings, give_a_host_the_variables_of_its_server_and_their_own)
{
	setenv("ONE", "first", 1);
	setenv("TWO", "second", 1);
	settings.environment = (char *)"TWO=mine\0THREE=third\0";
	apply_to("{'kind':'mcp','mcp':{'command':['x'],'env':{'A':'${env:ONE}',"
		 "'B':'${env:TWO}'}}}",
		NULL);
	cr_expect_eq(environment_count(package->environment), 3);
	cr_expect_str_eq(package->environment, "TWO=mine");
	cr_expect(environment_names(package->environment, "THREE="));
	cr_expect(environment_names(package->environment, "ONE="));
}

Test(settings, give_the_host_of_a_server_the_time_for_its_start_and_a_minute_at_least)
{
	static const struct {
		uint64_t start_timeout_ms;
		const char *in_load;
	} cases[] = {
		{0, ",\"start_timeout_ms\":60000,"},
		{10000, ",\"start_timeout_ms\":60000,"},
		{60001, ",\"start_timeout_ms\":60001,"},
		{86400000, ",\"start_timeout_ms\":86400000,"},
	};

	/* Nothing else of the configuration is about this toolbox. */
	settings.digest = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		config.start_timeout_ms = cases[i].start_timeout_ms;
		apply_to(SERVER(""), NULL);
		cr_expect(strstr(package->load, cases[i].in_load), "%s", package->load);
	}
	apply_to(PLUGIN(""), NULL);
	cr_expect_not(strstr(package->load, "start_timeout_ms"));
}

Test(settings, are_applied_whole_or_fail_when_memory_is_short)
{
	size_t n = 0;

	settings.config = quoted("{'include':['c'],'pin':'off'}");
	for (;; n++) {
		int r;

		read_good(SERVER(",'exclude':['b']"));
		if (!scarce_once_after(n))
			break;
		r = settings_apply(&config, package);
		if (scarce_has_failed())
			cr_expect(r == -ENOMEM || r == 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect_str_eq(package->mcp.rules,
				"{\"include\":[\"c\"],\"exclude\":[\"b\"]}", "after %zu", n);
		if (!scarce_has_failed() && r == 0 && n > 200)
			break;
	}
	cr_expect_gt(n, 5);
}

/* ── what is left out ────────────────────────────────────────────────────────────────────────── */

/* As the manifest of box has them. */
static char *box_off;
static char *tool_off;
static bool is_experimental;

/* Expect why the tool @name of box is left out; NULL: it is not. */
static void expect_refusal(const char *name, const char *reason)
{
	struct package owner = {.id = (char *)"box", .off = box_off};
	struct toolbox box = {.id = (char *)"box", .package = &owner};
	const struct tool tool = {.name = (char *)name,
		.toolbox = &box,
		.off = tool_off,
		.lack = tool_lack,
		.is_experimental = is_experimental};
	bool is_offered = settings_offer(&config, &tool);

	cr_expect_eq(is_offered, !reason, "%s", name);
	if (reason)
		cr_expect_str_eq(settings_refusal(&config, &tool), reason);
}

/* Return why the toolbox @id is left out as a whole. */
static const char *whole_refusal(const char *id)
{
	struct package owner = {.id = (char *)id, .off = box_off};
	const struct toolbox box = {.id = (char *)id, .package = &owner};

	return settings_toolbox_refusal(&config, &box);
}

Test(settings, leave_out_what_is_not_enabled)
{
	struct config_tool tools[] = {{.name = (char *)"off", .is_enabled = false},
		{.name = (char *)"on", .is_enabled = true}};

	expect_refusal("on", NULL);
	settings.tools = (struct config_tools){tools, 2, 0};
	expect_refusal("on", NULL);
	expect_refusal("other", NULL);
	expect_refusal("off", "it is not enabled (toolboxes.ID.tools.NAME.enabled)");
	cr_expect_not(settings_leave_out(&config, "box", NULL));
	settings.is_enabled = false;
	expect_refusal("on", "its toolbox is not enabled");
	cr_expect(settings_leave_out(&config, "box", NULL));
	cr_expect(settings_leave_out(&config, "other", "box"), "by its entry point");
	cr_expect_not(settings_leave_out(&config, "other", "another"));
	settings.tools = (struct config_tools){0};
}

Test(settings, leave_out_what_a_manifest_disables_until_it_is_enabled)
{
	struct config_tool tools[] = {
		{.name = (char *)"on", .is_enabled = true, .is_opened = true}};
	char *entries[] = {(char *)"other", (char *)"*/b"};
	char *whole[] = {(char *)"box"};

	box_off = (char *)"the box is off";
	tool_off = (char *)"the tool is off";
	expect_refusal("a", "the box is off");
	cr_expect_str_eq(whole_refusal("box"), "the box is off");
	settings.is_opened = true;
	expect_refusal("a", NULL);
	cr_expect_null(whole_refusal("box"));
	settings.is_opened = false;
	settings.tools = (struct config_tools){tools, 1, 0};
	expect_refusal("on", NULL);
	expect_refusal("a", "the box is off");
	cr_expect_null(whole_refusal("box"), "one of its tools may be offered");
	settings.tools = (struct config_tools){0};
	config.enabled.names = (struct text_list){entries, 2};
	expect_refusal("b", NULL);
	expect_refusal("a", "the box is off");
	cr_expect_null(whole_refusal("box"));
	cr_expect_null(whole_refusal("other"));
	config.enabled.names = (struct text_list){whole, 1};
	expect_refusal("b", NULL);
	cr_expect_str_eq(whole_refusal("other"), "the box is off");
	/* The name of a toolbox means all of its tools, also where it is offered. */
	box_off = NULL;
	expect_refusal("a", NULL);
	config.enabled.names = (struct text_list){0};
	expect_refusal("a", "the tool is off");
	tool_off = NULL;
}

Test(settings, leave_out_a_tool_that_lacks_something)
{
	char *whole[] = {(char *)"box"};

	tool_lack = (char *)"it has no topic";
	expect_refusal("a", "it has no topic");
	tool_off = (char *)"the tool is off";
	expect_refusal("a", "the tool is off");
	config.enabled.names = (struct text_list){whole, 1};
	expect_refusal("a", "it has no topic");
	config.enabled.names = (struct text_list){0};
	tool_off = tool_lack = NULL;
}

Test(settings, offer_an_experimental_tool_only_by_name)
{
	char *names[] = {(char *)"box/a"};

	is_experimental = true;
	expect_refusal("a", "experimental; toolboxd.experimental offers it by name");
	config.experimental = (struct text_list){names, 1};
	expect_refusal("a", NULL);
	expect_refusal("b", "experimental; toolboxd.experimental offers it by name");
	config.experimental = (struct text_list){0};
	is_experimental = false;
}

Test(settings, leave_out_what_the_filter_names_in_its_words)
{
	char *names[] = {(char *)"box/a"};
	struct text_list list = {names, 1};

	config.tools_disabled = list;
	expect_refusal("b", NULL);
	expect_refusal("a", "left out by tools_enabled or tools_disabled");
	config.filter_variable = "TOOLBOXD_TOOLS_DISABLED";
	expect_refusal("a", "left out by TOOLBOXD_TOOLS_DISABLED");
	config.filter_variable = "SOMETHING_ELSE";
	expect_refusal("a", "left out by tools_enabled or tools_disabled");
	config.tools_disabled = (struct text_list){0};
	config.tools_enabled = list;
	config.filter_variable = "TOOLBOXD_TOOLS_ENABLED";
	expect_refusal("a", NULL);
	expect_refusal("b", "left out by TOOLBOXD_TOOLS_ENABLED");
	cr_expect_not(settings_leave_out(&config, "box", NULL));
	cr_expect(settings_leave_out(&config, "other", NULL));
	config.tools_enabled = (struct text_list){0};
	config.filter_variable = NULL;
}

Test(settings, give_the_reason_of_the_entry_that_ends_last)
{
	char *names[] = {(char *)"box/a", (char *)"box/*", (char *)"*/a", (char *)"box/b"};
	char *until[] = {(char *)"2030-01-01T00:00:00Z", (char *)"2031-01-01T00:00:00Z",
		(char *)"2029-01-01T00:00:00Z", (char *)""};
	char *why[] = {(char *)"first", (char *)"second", (char *)"third", (char *)"for good"};

	config.disabled.names = (struct text_list){names, 4};
	config.disabled.until = (struct text_list){until, 4};
	config.disabled_why = (struct text_list){why, 4};
	expect_refusal("a", "second");
	expect_refusal("b", "for good");
	expect_refusal("c", "second");
	cr_expect_str_eq(whole_refusal("box"), "second");
	cr_expect(settings_leave_out(&config, "box", NULL));
	cr_expect_not(settings_leave_out(&config, "other", NULL));
	config.disabled.names = (struct text_list){0};
	config.disabled.until = (struct text_list){0};
	config.disabled_why = (struct text_list){0};
}

Test(settings, offer_a_toolbox_of_which_any_tool_is_offered)
{
	char *names[] = {(char *)"box/a"};
	struct toolbox *box = make_box("box", BOX_TOOL("a", "") "," BOX_TOOL("b", ""));
	struct toolbox *one = make_box("box", BOX_TOOL("a", ""));

	cr_expect(settings_offer_any(&config, box));
	config.tools_disabled = (struct text_list){names, 1};
	cr_expect(settings_offer_any(&config, box));
	cr_expect_not(settings_offer_any(&config, one));
	config.tools_disabled = (struct text_list){0};
	package_unref(box->package);
	package_unref(one->package);
}
