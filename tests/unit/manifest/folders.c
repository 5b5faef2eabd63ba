/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>

#include "../scratch.h"
#include "manifest/folders.h"
#include "scarce.h"
#include "util/buffer.h"
#include "util/cleanup.h"

static struct folders_listing listing;

static void tear_down(void)
{
	folders_listing_deinit(&listing);
	scratch_tear_down();
}

TestSuite(folders, .init = scratch_set_up, .fini = tear_down);

static void mask(const char *name)
{
	cr_assert_eq(symlink("/dev/null", scratch_path(name)), 0);
}

/* List the folders low and high. @expected has their entries from the scratch folder on, with a
 * space after each and a slash after folders. */
static void expect_listed(const char *expected)
{
	const char *const folders[] = {scratch_path("low"), scratch_path("high")};
	cleanup(buffer_deinit) struct buffer text = {0};

	folders_listing_deinit(&listing);
	cr_assert_eq(folders_list(folders, 2, &listing), 0);
	for (size_t i = 0; i < listing.n_entries; i++) {
		const struct folders_entry *entry = &listing.entries[i];

		cr_expect_str_eq(entry->name, strrchr(entry->path, '/') + 1);
		buffer_printf(&text, "%s%s ", entry->path + strlen(scratch_folder) + 1,
			entry->is_folder ? "/" : "");
	}
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

Test(folders, that_do_not_exist_are_empty)
{
	expect_listed("");
}

Test(folders, are_listed_by_name)
{
	scratch_write("low/b.json", "");
	scratch_write("high/c.json", "");
	scratch_write("low/a.json", "");
	scratch_write("low/B.json", "");
	expect_listed("low/B.json low/a.json low/b.json high/c.json ");
}

Test(folders, give_the_file_of_the_higher_one)
{
	scratch_write("low/a.json", "");
	scratch_write("high/a.json", "");
	expect_listed("high/a.json ");
}

Test(folders, name_programs_that_are_in_none)
{
	static const char described[] = "#!/bin/sh\n# risk: read\n# description: Rings.\n";

	scratch_write("low/a.json", "");
	scratch_write("low/ring.sh", described);
	scratch_write("low/helper.sh", "#!/bin/sh\n# It rings.\n");
	scratch_write("low/notes", "# description: none\n");
	scratch_write("low/quiet.sh", described);
	scratch_write("low/_own.sh", described);
	chmod(scratch_path("low/ring.sh"), 0700);
	chmod(scratch_path("low/helper.sh"), 0700);
	chmod(scratch_path("low/notes"), 0700);
	chmod(scratch_path("low/_own.sh"), 0700);
	expect_listed("low/a.json ");
	cr_assert_eq(listing.strays.n_items, 2);
	cr_expect_str_eq(strrchr(listing.strays.items[0], '/'), "/quiet.sh");
	cr_expect_str_eq(listing.strays.items[1], scratch_path("low/ring.sh"));
}

Test(folders, hide_what_a_higher_one_masks)
{
	scratch_write("low/a.json", "");
	scratch_write("low/b.json", "");
	mkdir(scratch_path("high"), 0700);
	mask("high/a.json");
	expect_listed("low/b.json ");
}

Test(folders, tell_what_a_mask_hides)
{
	scratch_write("low/a.json", "");
	scratch_write("low/b.json", "");
	scratch_write("high/c.json", "");
	mask("high/a.json");
	mask("high/nothing.json");
	expect_listed("low/b.json high/c.json ");
	cr_assert_eq(listing.n_masks, 1);
	cr_expect_str_eq(listing.masks[0].path, scratch_path("low/a.json"));
	cr_expect_str_eq(listing.masks[0].link, scratch_path("high/a.json"));
}

Test(folders, show_what_is_above_a_mask)
{
	scratch_write("high/a.json", "");
	mkdir(scratch_path("low"), 0700);
	mask("low/a.json");
	expect_listed("high/a.json ");
}

Test(folders, mask_by_dev_null_alone)
{
	scratch_write("low/a.json", "");
	mkdir(scratch_path("high"), 0700);
	cr_assert_eq(symlink("/dev/zero", scratch_path("high/a.json")), 0);
	expect_listed("high/a.json ");
}

Test(folders, leave_out_what_is_no_registration)
{
	scratch_write("low/.hidden.json", "");
	scratch_write("low/_draft.json", "");
	scratch_write("low/README", "");
	scratch_write("low/a.json~", "");
	scratch_write("low/.json", "");
	expect_listed("");
}

Test(folders, list_folders_of_programs_and_what_masks_them)
{
	scratch_write("low/tools/run", "");
	scratch_write("low/other/run", "");
	scratch_write("low/.git/config", "");
	mkdir(scratch_path("high"), 0700);
	mask("high/other");
	expect_listed("low/tools/ ");
}

Test(folders, list_a_dangling_link_so_that_it_is_told)
{
	mkdir(scratch_path("low"), 0700);
	cr_assert_eq(symlink("nowhere", scratch_path("low/a.json")), 0);
	expect_listed("low/a.json ");
}

Test(folders, may_be_given_twice)
{
	const char *const folders[] = {scratch_path("low"), scratch_path("low")};

	scratch_write("low/a.json", "");
	cr_assert_eq(folders_list(folders, 2, &listing), 0);
	cr_expect_eq(listing.n_entries, 1);
	cr_expect_eq(listing.n_masks, 0, "no file replaces itself");
}

Test(folders, that_are_none_are_empty)
{
	scratch_write("low", "a file");
	scratch_write("high/a.json", "");
	expect_listed("high/a.json ");
}

Test(folders, name_the_links_in_them)
{
	mkdir(scratch_path("low"), 0700);
	cr_assert_eq(symlink("nowhere", scratch_path("low/_own")), 0);
	cr_assert_eq(symlink("nowhere", scratch_path("low/.hidden")), 0);
	scratch_write("low/a.json", "");
	expect_listed("low/a.json ");
	cr_assert_eq(listing.links.n_items, 1);
	cr_expect_str_eq(listing.links.items[0], scratch_path("low/_own"));
}

Test(folders, know_a_stray_by_its_first_bytes)
{
	static const struct {
		const char *text;
		bool is_stray;
	} rows[] = {
		{"#!/bin/sh\n# description: a", true},
		{"#!/usr/bin/node\n// description: a", true},
		{"#!/usr/bin/lua\n-- description: a", true},
		{"#!/bin/sh\n#description: a", false},
		{"#!/bin/sh # description: a", false},
		{"# description: a\n# description: b", false},
		{"\n#!/bin/sh\n# description: a", false},
		{"# toolbox: python\n", true},
		{"# toolbox: python", false},
		{"# toolbox: pythox\n", false},
		{"\n# toolbox: python\n", false},
		{"#!", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		scratch_write("low/file", rows[i].text);
		expect_listed("");
		cr_expect_eq(listing.strays.n_items, rows[i].is_stray, "%s", rows[i].text);
	}
}

Test(folders, look_for_the_words_of_a_stray_in_4096_bytes)
{
	static const char words[] = "\n# description:";
	char text[4096 + sizeof(words)] = "#!/bin/sh";

	for (size_t more = 0; more < 2; more++) {
		memset(text + strlen("#!/bin/sh"), 'x', 4096);
		memcpy(text + 4096 - strlen(words) + more, words, sizeof(words));
		scratch_write("low/file", text);
		expect_listed("");
		cr_expect_eq(listing.strays.n_items, more == 0);
	}
}

Test(folders, name_a_hundred_strays)
{
	char name[32];

	for (unsigned int i = 0; i <= FOLDERS_STRAYS_MAX; i++) {
		snprintf(name, sizeof(name), "low/%03u", i);
		scratch_write(name, "# toolbox: python\n");
	}
	expect_listed("");
	cr_expect_eq(listing.strays.n_items, FOLDERS_STRAYS_MAX);
	for (size_t i = 1; i < listing.strays.n_items; i++)
		cr_expect_lt(strcmp(listing.strays.items[i - 1], listing.strays.items[i]), 0);
}

Test(folders, of_registrations_have_a_dot_in_their_names)
{
	scratch_write("boxes.d/a.json", "");
	scratch_write("boxes/a.json", "");
	cr_assert_eq(symlink("boxes.d", scratch_path("link")), 0);
	cr_assert_eq(symlink("boxes", scratch_path("link.d")), 0);
	cr_expect(folders_is_registration(scratch_path("boxes.d")));
	cr_expect(folders_is_registration(scratch_path("boxes.d/")));
	cr_expect(folders_is_registration(scratch_path("link")), "the name of the folder");
	cr_expect_not(folders_is_registration(scratch_path("link.d")));
	cr_expect_not(folders_is_registration(scratch_path("boxes")));
	cr_expect_not(folders_is_registration(scratch_path("boxes/a.json")));
	cr_expect_not(folders_is_registration(scratch_path("none.d")));
}

Test(folders, are_listed_whole_or_memory_is_short)
{
	const char *const folders[] = {scratch_path("low"), scratch_path("high")};
	size_t n = 0;

	scratch_write("low/a.json", "");
	scratch_write("low/b.json", "");
	scratch_write("high/a.json", "");
	scratch_write("high/stray", "# toolbox: python\n");
	mask("high/b.json");
	for (; scarce_once_after(n); n++) {
		int r;

		folders_listing_deinit(&listing);
		listing = (struct folders_listing){0};
		r = folders_list(folders, 2, &listing);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r < 0)
			continue;
		cr_expect_eq(listing.n_entries, 1);
		cr_expect_str_eq(listing.entries[0].path, scratch_path("high/a.json"));
		cr_expect_eq(listing.strays.n_items, 1);
		cr_expect_eq(listing.links.n_items, 1);
		cr_assert_eq(listing.n_masks, 2);
		cr_expect(listing.masks[0].is_replaced);
		cr_expect_not(listing.masks[1].is_replaced);
	}
	cr_expect_gt(n, 10);
}
