/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/pins.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../scratch.h"
#include "json/reader.h"
#include "scarce.h"
#include "util/file/file.h"

/* The pins of a server with one tool, as a load and another program change them at the same
 * time. */

static const char listed[] =
	"{\"list\":[{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\"}}]}";

static struct tool tools[1];
static struct toolbox toolbox;
static struct toolbox *toolboxes[1];
static struct package package;
static struct json_tape described;
static struct diagnostics problems;

static void set_up(void)
{
	scratch_set_up();
	setenv("STATE_DIRECTORY", scratch_folder, 1);
	tools[0] = (struct tool){.name = "add", .server_name = "add"};
	toolbox = (struct toolbox){.id = "box", .tools = tools, .n_tools = 1};
	toolboxes[0] = &toolbox;
	package = (struct package){.id = "box", .kind = KIND_MCP, .toolboxes = toolboxes};
	package.mcp.server = "{\"argv\":[\"serve\"]}";
	cr_assert_eq(
		json_tape_read(&described, listed, strlen(listed), JSON_DEPTH_DEFAULT, NULL), 0);
}

static void tear_down(void)
{
	json_tape_deinit(&described);
	diagnostics_deinit(&problems);
	scratch_tear_down();
}

TestSuite(pins, .init = set_up, .fini = tear_down);

/* Lock the state folder as toolboxctl trust does. */
static int lock_state(int *ret_lock)
{
	return file_lock(scratch_folder, 0, ret_lock);
}

/* Read the pins, compare them, and keep what is new. */
static void load(void)
{
	struct pins pins = {.lock = -1};

	cr_assert_eq(pins_read(&package, &pins), 0);
	cr_assert_eq(pins_compare(&pins, &package, &described, &problems), 0);
	pins_deinit(&pins);
}

Test(pins, change_for_nobody_else_between_reading_and_keeping)
{
	struct pins pins = {.lock = -1};
	int lock;

	cr_assert_eq(pins_read(&package, &pins), 0);
	cr_expect_eq(lock_state(&lock), -EAGAIN, "another program could change them now");
	cr_assert_eq(pins_compare(&pins, &package, &described, &problems), 0);
	cr_expect(pins_hold(&package));
	pins_deinit(&pins);
	cr_assert_eq(lock_state(&lock), 0);
	close(lock);
}

Test(pins, are_kept_by_the_next_load_when_another_program_has_the_lock)
{
	int lock;

	cr_assert_eq(lock_state(&lock), 0);
	load();
	cr_expect_not(pins_hold(&package));
	cr_assert_eq(problems.n_items, 1);
	cr_expect(strstr(problems.items[0].text, "the next load tries again"), "%s",
		problems.items[0].text);
	close(lock);
	load();
	cr_expect(pins_hold(&package));
	cr_expect_eq(problems.n_items, 1);
}

Test(pins, that_are_known_need_no_lock)
{
	int lock;

	load();
	cr_assert_eq(lock_state(&lock), 0);
	load();
	cr_expect(pins_hold(&package));
	cr_expect_eq(problems.n_items, 0);
	close(lock);
}

/* Let the server list its one tool with the description @text. */
static void describe(const char *text)
{
	char json[256];

	snprintf(json, sizeof(json),
		"{\"list\":[{\"name\":\"add\",\"description\":\"%s\","
		"\"inputSchema\":{\"type\":\"object\"}}]}",
		text);
	json_tape_deinit(&described);
	described = (struct json_tape){0};
	cr_assert_eq(json_tape_read(&described, json, strlen(json), JSON_DEPTH_DEFAULT, NULL), 0);
	load();
}

Test(pins, report_a_changed_tool_and_offer_it)
{
	describe("one");
	cr_expect_eq(problems.n_items, 0);
	describe("two");
	cr_assert_eq(problems.n_items, 1);
	cr_expect_eq(problems.items[0].severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(problems.items[0].text,
		"its server has changed 1 tool: add (`toolboxctl trust box --show` shows how)");
	cr_expect_eq(toolbox.n_tools, 1);
	cr_assert_eq(package.left_out.n_items, 1);
	cr_expect_null(package.left_out.items[0].name);
	skipped_list_deinit(&package.left_out);
}

Test(pins, are_as_they_were_after_a_change_back)
{
	describe("one");
	describe("two");
	cr_expect_eq(problems.n_items, 1);
	diagnostics_deinit(&problems);
	problems = (struct diagnostics){0};
	describe("one");
	cr_expect_eq(problems.n_items, 0);
	describe("two");
	cr_expect_eq(problems.n_items, 1);
	skipped_list_deinit(&package.left_out);
}

Test(pins, leave_a_changed_tool_out_where_changes_block)
{
	package.mcp.pin = MCP_PIN_BLOCK;
	toolbox.package = &package;
	package.n_toolboxes = 1;
	toolbox.tools = calloc(1, sizeof(*toolbox.tools));
	*toolbox.tools = (struct tool){
		.toolbox = &toolbox, .name = strdup("add"), .server_name = strdup("add")};
	describe("one");
	cr_expect_eq(toolbox.n_tools, 1);
	describe("two");
	cr_expect_eq(toolbox.n_tools, 0);
	cr_assert_eq(package.left_out.n_items, 1);
	cr_expect_str_eq(package.left_out.items[0].name, "add");
	cr_expect_str_eq(package.left_out.items[0].reason,
		"its server has changed it: `toolboxctl trust box --show` shows how, and "
		"`toolboxctl trust box` accepts it");
	skipped_list_deinit(&package.left_out);
	free(package.load);
	free(package.tools);
}

Test(pins, are_read_or_memory_is_short)
{
	load();
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct pins pins = {.lock = -1};
		int r = pins_read(&package, &pins);
		bool is_short = r == -ENOMEM || pins.lock == -ENOMEM; /* known pins need none */

		cr_expect_eq(is_short, scarce_has_failed(), "%d at %zu", r, n);
		cr_expect_eq(pins.error, r, "%d at %zu", pins.error, n);
		pins_deinit(&pins);
	}
}

Test(pins, are_off_where_they_are_not_wanted)
{
	package.mcp.pin = MCP_PIN_OFF;
	describe("one");
	describe("two");
	cr_expect_eq(problems.n_items, 0);
	cr_expect(pins_hold(&package));
}

Test(pins, see_only_the_first_of_two_tools_with_one_name)
{
	static const char twice[] = "{\"list\":[{\"name\":\"add\",\"description\":\"one\"},"
				    "{\"name\":\"add\",\"description\":\"two\"}]}";

	json_tape_deinit(&described);
	described = (struct json_tape){0};
	cr_assert_eq(json_tape_read(&described, twice, strlen(twice), JSON_DEPTH_DEFAULT, NULL), 0);
	load();
	load();
	cr_expect_eq(problems.n_items, 0);
}
