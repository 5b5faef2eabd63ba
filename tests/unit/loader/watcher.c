/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/watcher.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "../scratch.h"
#include "scarce.h"

static struct loop *loop;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
}

static void tear_down(void)
{
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(watcher, .init = set_up, .fini = tear_down, .timeout = 60);

static void stop_loop(void *data)
{
	loop_stop(data);
}

#define WAIT_MS 30000

Test(watcher, notices_a_change_of_one_file_in_a_folder)
{
	cleanup(watcher_cleanup) struct watcher *watcher = NULL;
	const char *file = scratch_path("libs/libx.so");

	scratch_write("libs/libx.so", "1");
	cr_assert_eq(watcher_new(loop, stop_loop, loop, &watcher), 0);
	cr_assert_eq(watcher_set(watcher, NULL, 0, &file, 1, false), 0);
	scratch_write("libs/other.so", "1");
	cr_expect_eq(loop_run(loop, 2 * WATCHER_QUIET_MS), -ETIME, "another file is none of its");
	scratch_write("libs/libx.so", "2");
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
}

Test(watcher, notices_a_change_of_each_file_in_a_folder_and_of_a_missing_one)
{
	cleanup(watcher_cleanup) struct watcher *watcher = NULL;
	const char *files[] = {scratch_path("libs/one.so"), scratch_path("libs/two.so"),
		scratch_path("none/three.so"), scratch_path("none/four.so")};

	scratch_write("libs/one.so", "1");
	scratch_write("libs/two.so", "1");
	cr_assert_eq(watcher_new(loop, stop_loop, loop, &watcher), 0);
	cr_assert_eq(watcher_set(watcher, NULL, 0, files, 4, false), 0);
	scratch_write("libs/two.so", "2");
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert_eq(watcher_set(watcher, NULL, 0, files, 4, true), 0, "as they are");
	scratch_write("libs/one.so", "2");
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	scratch_write("none/four.so", "1");
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert_eq(watcher_set(watcher, NULL, 0, files, 1, true), 0, "others");
	scratch_write("libs/two.so", "3");
	cr_expect_eq(loop_run(loop, 2 * WATCHER_QUIET_MS), -ETIME, "it is watched no more");
}

Test(watcher, knows_of_a_change_before_it_reports_the_change)
{
	cleanup(watcher_cleanup) struct watcher *watcher = NULL;
	const char *folder = scratch_path("libs");

	scratch_write("libs/one", "1");
	cr_assert_eq(watcher_new(loop, stop_loop, loop, &watcher), 0);
	cr_assert_eq(watcher_set(watcher, &folder, 1, NULL, 0, false), 0);
	cr_expect_not(watcher_is_pending(watcher));
	scratch_write("libs/two", "1");
	cr_expect(watcher_is_pending(watcher), "though the loop has not turned");
	cr_expect(watcher_is_pending(watcher));
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect_not(watcher_is_pending(watcher));
}

Test(watcher, sees_other_paths_from_the_same_ones)
{
	cleanup(watcher_cleanup) struct watcher *watcher = NULL;
	const char *folders[] = {scratch_path("one"), scratch_path("two")};

	scratch_write("one/a", "1");
	scratch_write("two/a", "1");
	cr_assert_eq(watcher_new(loop, stop_loop, loop, &watcher), 0);
	cr_assert_eq(watcher_set(watcher, folders, 1, NULL, 0, true), 0);
	scratch_write("two/a", "2");
	cr_expect_not(watcher_is_pending(watcher), "it is not watched");
	cr_assert_eq(watcher_set(watcher, folders, 2, NULL, 0, true), 0);
	scratch_write("two/a", "3");
	cr_expect(watcher_is_pending(watcher));
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert_eq(watcher_set(watcher, folders + 1, 1, NULL, 0, true), 0);
	scratch_write("one/a", "2");
	cr_expect_not(watcher_is_pending(watcher), "it is watched no more");
}

Test(watcher, notices_a_change_between_the_watch_of_a_folder_and_of_the_rest)
{
	cleanup(watcher_cleanup) struct watcher *watcher = NULL;
	const char *folders[] = {scratch_path("box.d"), scratch_path("later.d")};

	scratch_write("box.d/one.json", "{}");
	cr_assert_eq(watcher_new(loop, stop_loop, loop, &watcher), 0);
	for (int i = 0; i < 2; i++) {
		watcher_add(watcher, folders, 2);
		scratch_write(i ? "later.d/one.json" : "box.d/two.json", "{}");
		cr_assert_eq(watcher_set(watcher, folders, 2, NULL, 0, false), 0);
		cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	}
}

static void ignore_change(void *data)
{
	(void)data;
}

Test(watcher, is_there_as_a_whole_or_not_at_all)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(watcher_cleanup) struct watcher *watcher = NULL;
		int r = watcher_new(loop, ignore_change, NULL, &watcher);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(!watcher, r < 0);
	}
}
