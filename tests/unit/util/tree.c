/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "../scratch.h"
#include "scarce.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/tree.h"

/* Folders that are copied and removed. */

TestSuite(tree, .init = scratch_set_up, .fini = scratch_tear_down);

static const struct tree_limits wide = {.entries = 100, .bytes = 1 << 20, .depth = 8};

/* Copy `from` to `to`, and expect @status with the fault @fault in `from` ("": none). */
static void expect_copy(const struct tree_limits *limits, int status, const char *fault)
{
	cleanup_free char *path = NULL;
	int r = tree_copy(scratch_path("from"), scratch_path("to"), limits, &path);

	cr_expect_eq(r, status, "%s: %s", strerror(-r), path ? path : "");
	if (*fault)
		cr_expect_str_eq(path, scratch_path(fault));
	else
		cr_expect_null(path);
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
	cleanup_free char *path = NULL;

	scratch_write("from/kept", "");
	cr_assert_eq(symlink(".", scratch_path("from/circle")), 0);
	cr_expect_eq(tree_copy(scratch_path("from"), scratch_path("to"), &wide, &path), -EFBIG);
	cr_expect_not_null(strstr(path, "from/circle/circle"));
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

/* ── limits, to the last entry and byte ──────────────────────────────────────────────────────── */

Test(tree, holds_a_folder_that_fills_each_limit)
{
	/* `from` and `below` count, too; the files have 7 bytes together. */
	static const struct tree_limits exact = {.entries = 5, .bytes = 7, .depth = 2};
	static const struct {
		struct tree_limits limits;
		const char *fault; /* the last entry in the order of their names, or any */
	} less[] = {
		{{.entries = 4, .bytes = 7, .depth = 2}, NULL},
		{{.entries = 5, .bytes = 6, .depth = 2}, NULL},
		{{.entries = 5, .bytes = 7, .depth = 1}, "from/below"},
		{{.entries = 0, .bytes = 7, .depth = 2}, "from"},
		{{.entries = 5, .bytes = 7, .depth = 0}, "from"},
	};

	scratch_write("from/one", "123");
	scratch_write("from/two", "4");
	scratch_write("from/below/three", "567");
	expect_copy(&exact, 0, "");
	for (size_t i = 0; i < sizeof(less) / sizeof(*less); i++) {
		cleanup_free char *path = NULL;

		tree_remove(scratch_path("to"));
		cr_expect_eq(
			tree_copy(scratch_path("from"), scratch_path("to"), &less[i].limits, &path),
			-EFBIG, "%zu", i);
		cr_assert_not_null(path, "%zu", i);
		if (less[i].fault)
			cr_expect_str_eq(path, scratch_path(less[i].fault), "%zu", i);
	}
}

Test(tree, counts_the_depth_of_each_folder_by_itself)
{
	static const struct tree_limits flat = {.entries = 100, .bytes = 100, .depth = 2};

	scratch_write("from/a/note", "");
	scratch_write("from/b/note", "");
	scratch_write("from/c/note", "");
	expect_copy(&flat, 0, "");
	cr_expect(is_there("to/a/note") && is_there("to/b/note") && is_there("to/c/note"));
}

Test(tree, copies_what_is_empty)
{
	struct stat status;

	cr_assert_eq(mkdir(scratch_path("from"), 0700), 0);
	cr_assert_eq(mkdir(scratch_path("from/empty"), 0700), 0);
	scratch_write("from/nothing", "");
	expect_copy(&wide, 0, "");
	cr_expect(has_text("to/nothing", ""));
	cr_expect_eq(stat(scratch_path("to/empty"), &status), 0);
	cr_expect(S_ISDIR(status.st_mode));
}

/* The copy finds itself in what it copies. */
Test(tree, ends_where_the_copy_is_inside_of_what_is_copied)
{
	char *path = NULL;

	scratch_write("from/kept", "");
	cr_expect_eq(
		tree_copy(scratch_path("from"), scratch_path("from/copy"), &wide, &path), -EFBIG);
	cr_expect_not_null(strstr(path, "from/copy/copy"));
	free(path);
	cr_expect(is_there("from/kept"));
}

/* ── hostile entries ─────────────────────────────────────────────────────────────────────────── */

Test(tree, names_a_link_that_leads_nowhere)
{
	scratch_write("from/kept", "");
	cr_assert_eq(symlink("absent", scratch_path("from/link")), 0);
	expect_copy(&wide, -ENOENT, "from/link");
}

Test(tree, counts_the_target_of_a_link_in_full)
{
	static const struct tree_limits small = {.entries = 100, .bytes = 7, .depth = 8};

	scratch_write("elsewhere", "12345678");
	scratch_write("from/kept", "");
	cr_assert_eq(symlink("../elsewhere", scratch_path("from/link")), 0);
	expect_copy(&small, -EFBIG, "from/link");
	cr_expect_not(is_there("to/link"));
}

Test(tree, writes_through_no_link_at_its_target)
{
	scratch_write("from", "new");
	scratch_write("kept", "old");
	cr_assert_eq(symlink(scratch_path("kept"), scratch_path("to")), 0);
	cr_assert_eq(symlink(scratch_path("absent"), scratch_path("nowhere")), 0);
	cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("to"), 10), -EEXIST);
	cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("nowhere"), 10), -EEXIST);
	cr_expect(has_text("kept", "old") && !is_there("absent"));
}

Test(tree, gives_a_copy_no_right_but_to_run)
{
	static const struct {
		mode_t from, to;
	} modes[] = {{0600, 0644}, {0666, 0644}, {0644, 0644}, {0755, 0755}, {0777, 0755},
		{04755, 0755}, {06700, 0755}, {0611, 0644}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct stat status;

		scratch_write("from", "text");
		cr_assert_eq(chmod(scratch_path("from"), modes[i].from), 0);
		cr_expect_eq(tree_copy_file(scratch_path("from"), scratch_path("to"), 4), 0);
		cr_expect_eq(stat(scratch_path("to"), &status), 0);
		cr_expect_eq(status.st_mode & 07777, modes[i].to, "%o", modes[i].from);
		cr_assert_eq(unlink(scratch_path("to")), 0);
	}
}

/* ── removing ────────────────────────────────────────────────────────────────────────────────── */

Test(tree, removes_one_file_or_one_link)
{
	scratch_write("file", "");
	scratch_write("kept/note", "text");
	cr_assert_eq(symlink("kept", scratch_path("link")), 0);
	tree_remove(scratch_path("file"));
	tree_remove(scratch_path("link"));
	cr_expect(!is_there("file") && !is_there("link") && has_text("kept/note", "text"));
}

Test(tree, removes_what_is_deep_or_has_any_name)
{
	char name[300] = "deep";

	for (int i = 0; i < 60; i++)
		strcat(name, "/in");
	strcat(name, "/note");
	scratch_write(name, "");
	scratch_write("deep/in/in/beside", "");
	scratch_write("deep/in/0/full", "");
	scratch_write("deep/in/1", "");
	scratch_write("deep/0/full", "");
	scratch_write("deep/1", "");
	tree_remove(scratch_path("deep"));
	cr_expect_not(is_there("deep"));
}

/* Exchange @folder and @link as often as they exist. Never returns. */
static void exchange(const char *folder, const char *link)
{
	alarm(120);
	for (;;)
		(void)renameat2(AT_FDCWD, folder, AT_FDCWD, link, RENAME_EXCHANGE);
}

/* A killed guard leaves programs for a moment, which still write in the folder of their host. */
Test(tree, follows_no_link_that_takes_the_place_of_a_folder_meanwhile)
{
	pid_t other = fork();

	cr_assert_geq(other, 0);
	if (other == 0)
		exchange(scratch_path("gone/in"), scratch_path("link"));
	scratch_write("kept/note", "text");
	for (int i = 0; i < 1000 && has_text("kept/note", "text"); i++) {
		tree_remove(scratch_path("link"));
		(void)!symlink("kept", scratch_path("link"));
		mkdir(scratch_path("gone"), 0700);
		mkdir(scratch_path("gone/in"), 0700);
		tree_remove(scratch_path("gone"));
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	cr_expect(has_text("kept/note", "text"));
}

static bool is_third_or_later(void *data)
{
	return ++*(int *)data >= 3;
}

Test(tree, is_removed_until_that_is_over)
{
	int n = 0;

	scratch_write("half/1", "");
	scratch_write("half/2", "");
	scratch_write("half/in/3", "");
	tree_remove_until(scratch_path("half"), is_third_or_later, &n);
	cr_expect(is_there("half"));
	tree_remove(scratch_path("half"));
	cr_expect_not(is_there("half"));
}

/* ── memory that runs short ──────────────────────────────────────────────────────────────────── */

Test(tree, says_so_when_memory_runs_short)
{
	scratch_write("from/below/note", "text");
	scratch_write("from/run", "text");
	for (size_t n = 0; scarce_once_after(n); n++) {
		char *path = NULL;
		int r = tree_copy(scratch_path("from"), scratch_path("to"), &wide, &path);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect(r == 0 ? !path
				 : path && strncmp(path, scratch_path("from"),
						   strlen(scratch_path("from"))) == 0);
		free(path);
		tree_remove(scratch_path("to"));
		cr_assert_not(is_there("to"));
	}
}
