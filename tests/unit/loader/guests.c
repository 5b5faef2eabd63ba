/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/guest/guests.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "loader/gate/gate.h"
#include "quotes.h"
#include "scarce.h"
#include "util/cleanup.h"

/* Guests in a catalogue: read, merged with the toolboxes of files, and displaced by them. */

static struct manifest_reader *reader;
static struct guest_set set;
static struct config config = {
	.limits = {.toolboxes = 10, .tools = 100}, .guests = {.risk = TOOL_EXECUTE}};

static void set_up(void)
{
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
}

static void tear_down(void)
{
	guest_set_deinit(&set);
	manifest_reader_free(reader);
}

TestSuite(guests, .init = set_up, .fini = tear_down, .timeout = 60);

/* Add the guest @id with the tools @tools, JSON with ' in place of ". */
static void add(const char *id, const char *tools)
{
	char text[512];
	cleanup_free char *json = NULL;
	struct guest_entry entry = {
		.number = set.n_items + 1, .source = (char *)"skill", .is_new = true};

	snprintf(text, sizeof(text), "{'toolbox_id':'%s','tools':[%s]}", id, tools);
	json = quoted(text);
	entry.text = guest_text_new(json, strlen(json));
	cr_assert(entry.text);
	cr_assert_eq(guest_set_add(&set, &entry), 0);
	guest_text_unref(entry.text);
}

/* Read the guests, and merge them with @base. */
static struct catalogue *merge(const struct catalogue *base)
{
	struct catalogue *merged;

	cr_assert_eq(guests_read(reader, &config, &set), 0);
	merged = guests_merge(base, &set, &config, 7);
	cr_assert(merged);
	cr_expect_eq(catalogue_generation(merged), 7);
	return merged;
}

static struct catalogue *make_files(void)
{
	struct catalogue *base = make_catalogue(
		make_box("a", BOX_TOOL("one", "")), make_box("b", BOX_TOOL("two", "")), NULL);
	const struct catalogue_failure failure = {.toolbox_id = (char *)"broken",
		.file = (char *)"broken.json",
		.error = (char *)"why"};

	cr_assert_eq(catalogue_add_failure(base, &failure, NULL), 0);
	cr_assert_eq(catalogue_add_skipped(base, "a", "left", "since"), 0);
	return base;
}

static bool has_toolbox(const struct catalogue *catalogue, const char *id)
{
	return catalogue_find_toolbox(catalogue, id, strlen(id)) >= 0;
}

Test(guests, join_the_toolboxes_of_files_with_their_notes)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	add("lamp", "{'name':'on'},{'name':'off'}");
	merged = merge(base);
	cr_expect(has_toolbox(merged, "a") && has_toolbox(merged, "b") &&
		  has_toolbox(merged, "lamp"));
	cr_expect_eq(catalogue_n_tools(merged), 4);
	cr_expect_eq(catalogue_n_failures(merged), 1);
	cr_expect_str_eq(catalogue_failure(merged, 0)->toolbox_id, "broken");
	cr_expect_eq(catalogue_n_skipped(merged), 1);
	cr_expect_eq(set.items[0].outcome, GUEST_OFFERED);
	catalogue_free(merged);
}

Test(guests, that_are_not_listed_are_gone_from_the_next_catalogue)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *with_one;
	struct catalogue *without;

	add("lamp", "{'name':'on'}");
	with_one = merge(base);
	guest_set_deinit(&set);
	without = merge(with_one);
	cr_expect(has_toolbox(with_one, "lamp") && !has_toolbox(without, "lamp"));
	cr_expect(has_toolbox(without, "a") && catalogue_n_failures(without) == 1);
	catalogue_free(without);
	catalogue_free(with_one);
}

Test(guests, give_way_to_a_file_with_their_id)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	add("a", "{'name':'on'}");
	merged = merge(base);
	cr_expect_eq(set.items[0].outcome, GUEST_DISPLACED);
	cr_expect_eq(catalogue_n_tools(merged), 2);
	catalogue_free(merged);
}

Test(guests, give_way_to_the_limits_of_all)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	config.limits.toolboxes = 3;
	config.limits.tools = 4;
	add("large", "{'name':'on'},{'name':'off'},{'name':'dim'}");
	add("lamp", "{'name':'on'}");
	add("more", "{'name':'on'}");
	merged = merge(base);
	cr_expect_eq(set.items[0].outcome, GUEST_NO_ROOM);
	cr_expect_eq(set.items[1].outcome, GUEST_OFFERED);
	cr_expect_eq(set.items[2].outcome, GUEST_NO_ROOM);
	catalogue_free(merged);
}

Test(guests, with_mistakes_keep_their_earlier_package)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;
	struct package *before;

	add("lamp", "{'name':'on'}");
	catalogue_free(merge(base));
	before = package_ref(set.items[0].package);
	guest_set_deinit(&set);
	add("lamp", "{'name':'4'}");
	set.items[0].package = package_ref(before);
	merged = merge(base);
	cr_expect_eq(set.items[0].outcome, GUEST_REFUSED);
	cr_expect_eq(set.items[0].problems.n_errors, 1);
	cr_expect_eq(set.items[0].package, before);
	cr_expect(has_toolbox(merged, "lamp"));
	catalogue_free(merged);
	package_unref(before);
}

Test(guests, are_read_again_only_when_the_configuration_has_changed)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct package *before;

	add("lamp", "{'name':'on'}");
	catalogue_free(merge(base));
	before = package_ref(set.items[0].package);
	catalogue_free(merge(base));
	cr_expect_eq(set.items[0].package, before);
	config.guests.risk = TOOL_READ;
	catalogue_free(merge(base));
	cr_expect_neq(set.items[0].package, before);
	cr_expect_eq(set.items[0].package->toolboxes[0]->tools[0].risk, TOOL_READ);
	config.guests.risk = TOOL_EXECUTE;
	package_unref(before);
}

Test(guests, are_filtered_like_others)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	cr_assert_eq(text_list_add(&config.tools_disabled, "lamp/on"), 0);
	add("lamp", "{'name':'on'},{'name':'off'}");
	merged = merge(base);
	cr_expect_eq(catalogue_n_tools(merged), 3);
	cr_expect_eq(catalogue_n_skipped(merged), 2);
	text_list_deinit(&config.tools_disabled);
	catalogue_free(merged);
}

static bool is_of_a(void *data, const struct tool *tool)
{
	(void)data;
	return strcmp(tool->toolbox->id, "a") == 0;
}

/* Return a catalogue of the files a, and b, whose tools are left out. */
static struct catalogue *make_disabled_file(void)
{
	struct toolbox *boxes[] = {
		make_box("a", BOX_TOOL("one", "")), make_box("b", BOX_TOOL("two", ""))};
	struct catalogue *base = catalogue_new(boxes, 2, is_of_a, NULL, 1);

	cr_assert_not_null(base);
	cr_assert_eq(catalogue_disable(base, "b", "its file says so"), 0);
	cr_assert_eq(catalogue_add_skipped(base, "b", "two", "its file says so"), 0);
	package_unref(boxes[0]->package);
	package_unref(boxes[1]->package);
	return base;
}

/* Return whether tools of @id are noted as left out. */
static bool is_skipped(const struct catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++)
		if (strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0)
			return true;
	return false;
}

/* Notes about a guest are made anew by each load; all others come from files and stay. */
Test(guests, leave_no_note_behind)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_disabled_file();
	struct catalogue *with_one;
	struct catalogue *without;

	cr_assert_eq(text_list_add(&config.tools_disabled, "lamp/*"), 0);
	cr_assert_eq(text_list_add(&config.tools_disabled, "b/*"), 0);
	add("lamp", "{'name':'on'},{'name':'off'}");
	with_one = merge(base);
	cr_expect(is_skipped(with_one, "lamp") && is_skipped(with_one, "b"));
	cr_expect_not_null(catalogue_disabled_by(
		with_one, (size_t)catalogue_find_toolbox(with_one, "lamp", 4)));
	guest_set_deinit(&set);
	without = merge(with_one);
	cr_expect(!is_skipped(without, "lamp") && is_skipped(without, "b"));
	cr_expect_str_eq(
		catalogue_disabled_by(without, (size_t)catalogue_find_toolbox(without, "b", 1)),
		"its file says so");
	text_list_deinit(&config.tools_disabled);
	catalogue_free(without);
	catalogue_free(with_one);
}

Test(guests, keep_what_is_offered_in_place_of_a_failure)
{
	struct toolbox *kept = make_box("kept", BOX_TOOL("three", ""));
	struct package *held = package_ref(make_box("held", BOX_TOOL("four", ""))->package);
	cleanup(package_cleanup) struct package *package = package_ref(kept->package);
	cleanup(catalogue_cleanup) struct catalogue *base = make_catalogue(kept, NULL);
	const struct catalogue_failure failure = {
		.toolbox_id = (char *)"kept", .file = (char *)"kept.json", .error = (char *)"why"};
	const struct catalogue_failure *found;
	struct catalogue *merged;
	long index;

	cr_assert_eq(catalogue_add_failure(base, &failure, package), 0);
	cr_assert_eq(catalogue_hold(base, held), 0);
	add("a", "{'name':'on'}");
	merged = merge(base);
	index = catalogue_find_toolbox(merged, "kept", 4);
	cr_assert_geq(index, 0);
	found = catalogue_kept_for(merged, (size_t)index);
	cr_assert_not_null(found);
	cr_expect_str_eq(found->error, "why");
	cr_expect_null(catalogue_kept_for(merged, (size_t)catalogue_find_toolbox(merged, "a", 1)));
	cr_assert_eq(catalogue_n_held(merged), 1);
	cr_expect_eq(catalogue_held(merged, 0), held);
	catalogue_free(merged);
	package_unref(held);
	package_unref(held);
}

/* A package that was read with other settings is not offered, whatever comes of the new text. */
Test(guests, with_mistakes_keep_nothing_that_the_configuration_has_changed)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;
	struct package *before;

	add("lamp", "{'name':'on'}");
	catalogue_free(merge(base));
	before = package_ref(set.items[0].package);
	guest_set_deinit(&set);
	add("lamp", "{'name':'4'}");
	set.items[0].package = package_ref(before);
	config.guests.risk = TOOL_READ;
	merged = merge(base);
	config.guests.risk = TOOL_EXECUTE;
	cr_expect_eq(set.items[0].outcome, GUEST_REFUSED);
	cr_expect_null(set.items[0].package);
	cr_expect_not(has_toolbox(merged, "lamp"));
	catalogue_free(merged);
	package_unref(before);
}

Test(guests, are_read_by_the_settings_of_their_own_toolbox)
{
	struct config_toolbox settings = {
		.toolbox_id = (char *)"lamp", .is_enabled = true, .digest = 9};
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct package *lamp, *bulb;

	add("lamp", "{'name':'on'}");
	add("bulb", "{'name':'on'}");
	catalogue_free(merge(base));
	lamp = package_ref(set.items[0].package);
	bulb = package_ref(set.items[1].package);
	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	catalogue_free(merge(base));
	cr_expect_neq(set.items[0].package, lamp);
	cr_expect_eq(set.items[0].package->settings, 9);
	cr_expect_eq(set.items[1].package, bulb);
	config.toolboxes = NULL;
	config.n_toolboxes = 0;
	package_unref(lamp);
	package_unref(bulb);
}

Test(guests, have_no_gate)
{
	struct config_toolbox settings = {.toolbox_id = (char *)"lamp",
		.is_enabled = true,
		.gate = CONFIG_GATE_EXAMPLES,
		.digest = 9};
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	add("lamp", "{'name':'on'}");
	add("bulb", "{'name':'on'}");
	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	merged = merge(base);
	config.toolboxes = NULL;
	config.n_toolboxes = 0;
	cr_expect_eq(set.items[0].outcome, GUEST_REFUSED);
	cr_expect_str_eq(set.items[0].problems.items[0].text, GATE_KINDS);
	cr_expect(!has_toolbox(merged, "lamp") && has_toolbox(merged, "bulb"));
	catalogue_free(merged);
}

/* One guest cannot take the room of the others by being larger than what is left. */
Test(guests, fill_the_limits_to_the_last_tool)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_files();
	struct catalogue *merged;

	config.limits.toolboxes = 4;
	config.limits.tools = 5;
	add("lamp", "{'name':'on'},{'name':'off'}");
	add("large", "{'name':'on'},{'name':'off'}");
	add("bulb", "{'name':'on'}");
	merged = merge(base);
	cr_expect_eq(set.items[0].outcome, GUEST_OFFERED);
	cr_expect_eq(set.items[1].outcome, GUEST_NO_ROOM);
	cr_expect_eq(set.items[2].outcome, GUEST_OFFERED);
	cr_expect_eq(catalogue_n_tools(merged), 5);
	cr_expect_eq(catalogue_n_toolboxes(merged), 4);
	catalogue_free(merged);
}

/* ── memory ──────────────────────────────────────────────────────────────────────────────────── */

Test(guests, are_added_whole_or_not_at_all)
{
	struct guest_text *text = guest_text_new("{}", 2);
	const struct guest_entry entry = {.number = 1, .text = text, .source = (char *)"skill"};

	cr_assert_not_null(text);
	cr_expect_str_eq(text->bytes, "{}");
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r = guest_set_add(&set, &entry);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0);
		cr_expect_eq(set.n_items, r == 0 ? 1 : 0);
		cr_expect_eq(text->references, r == 0 ? 2 : 1);
		guest_set_deinit(&set);
		cr_expect_eq(text->references, 1);
	}
	guest_text_unref(text);
	guest_text_unref(NULL);
}

/* A text that could not be read for want of memory has no mistake, and stays to be read. */
Test(guests, are_no_mistakes_when_memory_runs_short)
{
	add("lamp", "{'name':'on','triggers':['on']}");
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct guest_entry *entry = &set.items[0];
		int r = guests_read(reader, &config, &set);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(entry->outcome, GUEST_OFFERED, "%zu", n);
		cr_expect_eq(entry->problems.n_items, 0, "%zu", n);
		cr_expect_eq(entry->package != NULL, r == 0, "%zu", n);
		package_unref(entry->package);
		entry->package = NULL;
	}
}

Test(guests, make_no_catalogue_without_memory)
{
	cleanup(catalogue_cleanup) struct catalogue *base = make_disabled_file();

	cr_assert_eq(text_list_add(&config.tools_disabled, "lamp/on"), 0);
	cr_assert_eq(text_list_add(&config.tools_disabled, "b/*"), 0);
	add("lamp", "{'name':'on'},{'name':'off'}");
	cr_assert_eq(guests_read(reader, &config, &set), 0);
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(catalogue_cleanup) struct catalogue *merged =
			guests_merge(base, &set, &config, 7);

		cr_expect_eq(merged == NULL, scarce_has_failed(), "%zu", n);
		cr_expect(!merged || catalogue_n_skipped(merged) == 2, "%zu", n);
	}
	text_list_deinit(&config.tools_disabled);
}
