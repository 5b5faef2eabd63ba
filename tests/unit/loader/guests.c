/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/guest/guests.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "boxes.h"
#include "quotes.h"
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
	struct catalogue *base = make_files();
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
	catalogue_free(base);
}

Test(guests, that_are_not_listed_are_gone_from_the_next_catalogue)
{
	struct catalogue *base = make_files();
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
	catalogue_free(base);
}

Test(guests, give_way_to_a_file_with_their_id)
{
	struct catalogue *base = make_files();
	struct catalogue *merged;

	add("a", "{'name':'on'}");
	merged = merge(base);
	cr_expect_eq(set.items[0].outcome, GUEST_DISPLACED);
	cr_expect_eq(catalogue_n_tools(merged), 2);
	catalogue_free(merged);
	catalogue_free(base);
}

Test(guests, give_way_to_the_limits_of_all)
{
	struct catalogue *base = make_files();
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
	catalogue_free(base);
}

Test(guests, with_mistakes_keep_their_earlier_package)
{
	struct catalogue *base = make_files();
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
	catalogue_free(base);
	package_unref(before);
}

Test(guests, are_read_again_only_when_the_configuration_has_changed)
{
	struct catalogue *base = make_files();
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
	catalogue_free(base);
	package_unref(before);
}

Test(guests, are_filtered_like_others)
{
	struct catalogue *base = make_files();
	struct catalogue *merged;

	cr_assert_eq(text_list_add(&config.tools_disabled, "lamp/on"), 0);
	add("lamp", "{'name':'on'},{'name':'off'}");
	merged = merge(base);
	cr_expect_eq(catalogue_n_tools(merged), 3);
	cr_expect_eq(catalogue_n_skipped(merged), 2);
	text_list_deinit(&config.tools_disabled);
	catalogue_free(merged);
	catalogue_free(base);
}
