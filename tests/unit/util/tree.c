/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "../scratch.h"
#include "util/file/file.h"
#include "util/file/tree.h"

/* Folders that are copied and removed. */

TestSuite(tree, .init = scratch_set_up, .fini = scratch_tear_down);

static const struct tree_limits wide = {.entries = 100, .bytes = 1 << 20, .depth = 8};

/* Copy `from` to `to`, and expect @status with the fault @fault in `from` ("": none). */
static void expect_copy(const struct tree_limits *limits, int status, const char *fault)
{
	char *path = NULL;
	int r = tree_copy(scratch_path("from"), scratch_path("to"), limits, &path);

	cr_expect_eq(r, status, "%s: %s", strerror(-r), path ? path : "");
	if (*fault)
		cr_expect_str_eq(path, scratch_path(fault));
	else
		cr_expect_null(path);
	free(path);
}

/* Return whether the file @name has the bytes @text. */
static bool has_text(const char *name, const char *text)
{
	struct buffer bytes = {0};
	bool is_equal = file_read(scratch_path(name), 1 << 20, &bytes) == 0 &&
			bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;

	buffer_deinit(&bytes);
	return is_equal;
}

static bool is_there(const char *name)
{
	struct stat status;

	return lstat(scratch_path(name), &status) == 0;
}

Test(tree, copies_files_and_folders_with_the_right_to_run)
{
	struct stat status;

	scratch_write("from/run.sh", "#!/bin/sh\n");
	scratch_write("from/below/deep/note", "text");
	chmod(scratch_path("from/run.sh"), 0700);
	expect_copy(&wide, 0, "");
	cr_expect(has_text("to/run.sh", "#!/bin/sh\n") && has_text("to/below/deep/note", "text"));
	cr_expect_eq(stat(scratch_path("to/run.sh"), &status), 0);
	cr_expect_eq(status.st_mode & 07777, 0755u);
	cr_expect_eq(stat(scratch_path("to/below/deep/note"), &status), 0);
	cr_expect_eq(status.st_mode & 07777, 0644u);
}

Test(tree, leaves_names_with_a_dot_out)
{
	scratch_write("from/.git/config", "");
	scratch_write("from/.hidden", "");
	scratch_write("from/kept", "");
	expect_copy(&wide, 0, "");
	cr_expect(is_there("to/kept") && !is_there("to/.git") && !is_there("to/.hidden"));
}

Test(tree, copies_the_targets_of_links)
{
	struct stat status;

	scratch_write("elsewhere", "text");
	scratch_write("from/kept", "");
	cr_assert_eq(symlink("../elsewhere", scratch_path("from/link")), 0);
	expect_copy(&wide, 0, "");
	cr_expect(has_text("to/link", "text"));
	cr_expect_eq(lstat(scratch_path("to/link"), &status), 0);
	cr_expect(S_ISREG(status.st_mode));
}

Test(tree, ends_at_a_circle_of_links)
{
	char *path = NULL;

	scratch_write("from/kept", "");
	cr_assert_eq(symlink(".", scratch_path("from/circle")), 0);
	cr_expect_eq(tree_copy(scratch_path("from"), scratch_path("to"), &wide, &path), -EFBIG);
	cr_expect_not_null(strstr(path, "from/circle/circle"));
	free(path);
}

Test(tree, names_the_file_beyond_each_limit)
{
	const struct tree_limits few = {.entries = 2, .bytes = 1 << 20, .depth = 8};
	const struct tree_limits small = {.entries = 100, .bytes = 3, .depth = 8};
	const struct tree_limits flat = {.entries = 100, .bytes = 1 << 20, .depth = 2};

	scratch_write("from/below/deep/note", "text");
	expect_copy(&few, -EFBIG, "from/below/deep");
	tree_remove(scratch_path("to"));
	expect_copy(&small, -EFBIG, "from/below/deep/note");
	tree_remove(scratch_path("to"));
	expect_copy(&flat, -EFBIG, "from/below/deep");
	tree_remove(scratch_path("to"));
	expect_copy(&wide, 0, "");
}

Test(tree, names_what_is_no_file)
{
	scratch_write("from/kept", "");
	cr_assert_eq(mkfifo(scratch_path("from/pipe"), 0600), 0);
	expect_copy(&wide, -EINVAL, "from/pipe");
}

Test(tree, copies_into_nothing_that_is_there)
{
	scratch_write("from/kept", "new");
	scratch_write("to/kept", "old");
	expect_copy(&wide, -EEXIST, "from");
	cr_expect(has_text("to/kept", "old"));
}

Test(tree, copies_one_file_up_to_its_size)
{
	scratch_write("from", "text");
	cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("to"), 3), -EFBIG);
	cr_expect_not(is_there("to"));
	cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("to"), 4), 0);
	cr_expect(has_text("to", "text"));
	cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("to"), 4), -EEXIST);
	cr_expect_eq(tree_copy_file(scratch_path("absent"), scratch_path("other"), 4), -ENOENT);
}

Test(tree, removes_a_folder_and_follows_no_link)
{
	scratch_write("kept/note", "text");
	scratch_write("gone/below/note", "text");
	cr_assert_eq(symlink(scratch_path("kept"), scratch_path("gone/link")), 0);
	tree_remove(scratch_path("gone"));
	cr_expect(!is_there("gone") && has_text("kept/note", "text"));
	tree_remove(scratch_path("gone"));
}
