/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "../scratch.h"
#include "catalogue/origin.h"

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
