/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "catalogue/origin.h"
#include "scarce.h"

static struct origins origins;

static void tear_down(void)
{
	origins_deinit(&origins);
	scratch_tear_down();
}

TestSuite(origin, .init = scratch_set_up, .fini = tear_down);

static void add(const char *name)
{
	uint32_t index;

	cr_assert_eq(origins_add(&origins, scratch_path(name), &index), 0);
}

Test(origin, that_nobody_touched_holds)
{
	scratch_write("tool", "one");
	add("tool");
	add("absent");
	cr_expect(origins_hold(&origins));
}

Test(origin, that_was_touched_or_written_anew_with_the_same_bytes_holds)
{
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	scratch_write("tool", "one");
	add("tool");
	cr_assert_eq(utimensat(AT_FDCWD, scratch_path("tool"), times, 0), 0);
	cr_expect(origins_hold(&origins));
	scratch_write("other", "one");
	cr_assert_eq(rename(scratch_path("other"), scratch_path("tool")), 0);
	cr_expect(origins_hold(&origins));
}

Test(origin, with_other_bytes_does_not_hold_in_the_same_tick_of_the_clock_either)
{
	scratch_write("tool", "one");
	add("tool");
	scratch_write("tool", "two");
	cr_expect_not(origins_hold(&origins));
}

Test(origin, behind_a_link_that_leads_elsewhere_now_does_not_hold)
{
	scratch_write("g1/tool", "one");
	scratch_write("g2/tool", "two");
	cr_assert_eq(symlink("g1", scratch_path("current")), 0);
	add("current/tool");
	cr_expect(origins_hold(&origins));
	cr_assert_eq(unlink(scratch_path("current")), 0);
	cr_assert_eq(symlink("g2", scratch_path("current")), 0);
	cr_expect_not(origins_hold(&origins));
}

Test(origin, that_comes_or_goes_does_not_hold)
{
	add("later");
	scratch_write("later", "here");
	cr_expect_not(origins_hold(&origins));
	origins_deinit(&origins);
	add("later");
	cr_assert_eq(unlink(scratch_path("later")), 0);
	cr_expect_not(origins_hold(&origins));
}

Test(origin, that_is_known_to_be_another_holds_until_it_changes_again)
{
	scratch_write("tool", "one");
	add("tool");
	scratch_write("tool", "{ half");
	origins_accept(&origins);
	cr_expect(origins_hold(&origins));
	scratch_write("tool", "{ other half");
	cr_expect_not(origins_hold(&origins));
}

Test(origin, with_a_second_name_reports_no_changes_to_its_folder)
{
	scratch_write("tool", "one");
	scratch_write("alone", "one");
	cr_assert_eq(link(scratch_path("tool"), scratch_path("other")), 0);
	add("tool");
	add("alone");
	cr_expect(origins.items[0].is_shared);
	cr_expect_not(origins.items[1].is_shared);
}

Test(origin, of_many_tools_in_a_row_is_looked_for_among_the_last_sixteen)
{
	char name[16];
	uint32_t index;

	for (unsigned int i = 0; i < 17; i++) {
		snprintf(name, sizeof(name), "tool%u", i);
		scratch_write(name, "one");
		add(name);
	}
	cr_assert_eq(origins_add(&origins, scratch_path("tool16"), &index), 0);
	cr_expect_eq(index, 16);
	cr_assert_eq(origins_add(&origins, scratch_path("tool1"), &index), 0);
	cr_expect_eq(index, 1);
	cr_expect_eq(origins.n_items, 17);
	cr_assert_eq(origins_add(&origins, scratch_path("tool0"), &index), 0);
	cr_expect_eq(index, 17, "it is too far away");
	cr_expect_eq(origins.n_items, 18);
}

Test(origin, is_the_same_by_its_path_and_bytes)
{
	struct origins other = {0};
	uint32_t index;

	scratch_write("tool", "one");
	add("tool");
	cr_expect_not(origins_are_same(&origins, &other));
	cr_assert_eq(origins_copy(&other, &origins.items[0]), 0);
	cr_expect(origins_are_same(&origins, &other));
	other.items[0].digest[ORIGIN_DIGEST_BYTES - 1] ^= 1;
	cr_expect_not(origins_are_same(&origins, &other));
	other.items[0].digest[ORIGIN_DIGEST_BYTES - 1] ^= 1;
	cr_assert_eq(origin_move(&other.items[0], "/elsewhere"), 0);
	cr_expect_not(origins_are_same(&origins, &other));
	cr_assert_eq(origins_add(&other, "/second", &index), 0);
	add("second");
	cr_expect_not(origins_are_same(&origins, &other));
	origins_deinit(&other);
}

/* The bytes of a larger file are not compared. */
Test(origin, of_more_bytes_than_are_compared_is_another_file_with_another_stamp)
{
	for (unsigned int more = 0; more < 2; more++) {
		origins_deinit(&origins);
		scratch_write("tool", "");
		cr_assert_eq(truncate(scratch_path("tool"), ORIGIN_BYTES_MAX + more), 0);
		add("tool");
		cr_expect(origins_hold(&origins));
		scratch_write("other", "");
		cr_assert_eq(truncate(scratch_path("other"), ORIGIN_BYTES_MAX + more), 0);
		cr_assert_eq(rename(scratch_path("other"), scratch_path("tool")), 0);
		cr_expect_eq(origins_hold(&origins), more == 0);
	}
}

Test(origin, is_added_or_memory_is_short)
{
	size_t n = 0;

	scratch_write("tool", "one");
	for (; scarce_once_after(n); n++) {
		struct origins some = {0};
		uint32_t index;
		int r = origins_add(&some, scratch_path("tool"), &index);

		r = r ? r : origins_copy(&some, &some.items[0]);
		r = r ? r : origin_move(&some.items[1], "/moved");
		if (scarce_has_failed())
			cr_expect(r == -ENOMEM || some.n_items == 2, "%zu: %d", n, r);
		else
			cr_expect_eq(r, 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect_str_eq(some.items[1].path, "/moved");
		origins_deinit(&some);
	}
	cr_expect_gt(n, 3);
}
