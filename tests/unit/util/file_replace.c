/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "util/buffer.h"
#include "util/cleanup.h"

TestSuite(file_replace, .init = scratch_set_up, .fini = scratch_tear_down);

static void expect_file(const char *name, const char *text, mode_t mode)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct stat status;

	cr_assert_eq(file_read(scratch_path(name), 100, &bytes), 0);
	cr_expect_str_eq(buffer_terminate(&bytes), text);
	cr_assert_eq(stat(scratch_path(name), &status), 0);
	cr_expect_eq(status.st_mode & 0777, mode);
}

/* Return how many files the folder @name has, hidden ones too. */
static int count_files(const char *name)
{
	struct dirent **entries;
	int n = scandir(scratch_path(name), &entries, NULL, NULL);

	cr_assert(n >= 0);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return n - 2;
}

Test(file_replace, makes_the_folder_and_the_file)
{
	cr_assert_eq(file_replace(scratch_path("a/b/c"), "file", "text", 4, 0644), 0);
	expect_file("a/b/c/file", "text", 0644);
	cr_assert_eq(file_replace(scratch_path("a/b/c"), "file", "", 0, 0600), 0);
	expect_file("a/b/c/file", "", 0600);
	cr_expect_eq(count_files("a/b/c"), 1);
}

Test(file_replace, replaces_a_link_and_not_what_it_leads_to)
{
	scratch_write("real", "kept");
	cr_assert_eq(mkdir(scratch_path("a"), 0700), 0);
	cr_assert_eq(symlink("../real", scratch_path("a/file")), 0);
	cr_assert_eq(file_replace(scratch_path("a"), "file", "new", 3, 0644), 0);
	expect_file("a/file", "new", 0644);
	cr_assert_eq(chmod(scratch_path("real"), 0600), 0);
	expect_file("real", "kept", 0600);
}

Test(file_replace, leaves_the_old_file_when_it_fails)
{
	scratch_write("file", "old");
	cr_assert_eq(chmod(scratch_path("file"), 0600), 0);
	cr_assert_eq(mkdir(scratch_path("a"), 0700), 0);
	cr_assert_eq(mkdir(scratch_path("a/file"), 0700), 0);
	cr_expect_eq(file_replace(scratch_path("a"), "file", "new", 3, 0644), -EISDIR);
	cr_expect_eq(count_files("a"), 1);
	cr_expect_eq(file_replace(scratch_path("file"), "x", "new", 3, 0644), -ENOTDIR);
	expect_file("file", "old", 0600);
}

Test(file_replace, replaces_what_a_process_that_was_killed_has_left)
{
	char left[64];

	snprintf(left, sizeof(left), "a/.file.%d", (int)getpid());
	scratch_write(left, "half");
	cr_expect_eq(file_replace(scratch_path("a"), "file", "new", 3, 0644), 0);
	expect_file("a/file", "new", 0644);
	cr_expect_eq(count_files("a"), 1);
}

Test(file_replace, lets_one_writer_at_a_time_have_a_folder)
{
	int first = -1;
	int second = -1;

	cr_assert_eq(file_lock(scratch_path("new/folder"), 0, &first), 0);
	cr_expect_eq(file_lock(scratch_path("new/folder"), 0, &second), -EAGAIN);
	cr_expect_eq(second, -1);
	close(first);
	cr_assert_eq(file_lock(scratch_path("new/folder"), 0, &second), 0);
	close(second);
}

Test(file_replace, follows_no_link_to_lock)
{
	int lock = -1;

	cr_assert_eq(symlink(scratch_path("elsewhere"), scratch_path(".lock")), 0);
	cr_expect_eq(file_lock(scratch_path(""), 0, &lock), -ELOOP);
	cr_expect_neq(access(scratch_path("elsewhere"), F_OK), 0);
}
