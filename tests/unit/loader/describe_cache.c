/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/describe_cache.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"

static struct buffer described;

static void set_up(void)
{
	scratch_set_up();
	unsetenv("CACHE_DIRECTORY");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", scratch_path("home"), 1);
	cr_assert_eq(mkdir(scratch_path("home"), 0700), 0);
}

static void tear_down(void)
{
	buffer_deinit(&described);
	scratch_tear_down();
}

TestSuite(describe_cache, .init = set_up, .fini = tear_down);

/* Return the description that is kept by @key, or NULL. */
static const char *recall(const char *key)
{
	uint64_t depends;

	buffer_reset(&described);
	return describe_cache_read(key, &described, &depends) == 0 ? buffer_terminate(&described)
								   : NULL;
}

static size_t count_files(const char *folder)
{
	DIR *entries = opendir(scratch_path(folder));
	const struct dirent *entry;
	size_t n = 0;

	cr_assert(entries);
	while ((entry = readdir(entries)))
		n += entry->d_name[0] != '.';
	closedir(entries);
	return n;
}

Test(describe_cache, gives_back_what_was_told)
{
	cr_expect_null(recall("key"));
	describe_cache_write("key", "{\"a\":1}", 7, 0);
	cr_expect_str_eq(recall("key"), "{\"a\":1}");
	cr_expect_null(recall("other"));
	describe_cache_write("key", "{}", 2, 0);
	cr_expect_str_eq(recall("key"), "{}");
	describe_cache_write("key", "", 0, 0);
	cr_expect_str_eq(recall("key"), "");
	cr_expect_eq(count_files("home/.cache/toolboxd"), 1);
}

Test(describe_cache, gives_back_what_it_depends_on)
{
	uint64_t depends = 0;

	describe_cache_write("key", "{}", 2, UINT64_C(0xfedcba9876543210));
	buffer_reset(&described);
	cr_assert_eq(describe_cache_read("key", &described, &depends), 0);
	cr_expect_eq(depends, UINT64_C(0xfedcba9876543210));
}

Test(describe_cache, names_the_format_of_its_files)
{
	static const char head[] = "toolboxd-described 1 ";
	char bytes[sizeof(head)] = "";
	FILE *file;

	describe_cache_write("key", "{}", 2, 0);
	file = fopen(scratch_path("home/.cache/toolboxd/described-key"), "r+e");
	cr_assert(file);
	cr_assert_eq(fread(bytes, 1, sizeof(head) - 1, file), sizeof(head) - 1);
	cr_expect_str_eq(bytes, head);
	cr_assert(recall("key"));
	cr_assert_eq(fseek(file, (long)strlen("toolboxd-described "), SEEK_SET), 0);
	cr_assert_eq(fputc('2', file), '2');
	fclose(file);
	cr_expect_null(recall("key"), "it is of another format");
}

Test(describe_cache, is_where_systemd_or_xdg_say)
{
	setenv("XDG_CACHE_HOME", scratch_path("xdg"), 1);
	describe_cache_write("key", "xdg", 3, 0);
	cr_expect_eq(count_files("xdg/toolboxd"), 1);
	setenv("XDG_CACHE_HOME", "relative", 1);
	cr_expect_null(recall("key"), "a relative path counts as none");
	{
		char given[512];

		snprintf(given, sizeof(given), "%s:/nowhere", scratch_path("systemd"));
		setenv("CACHE_DIRECTORY", given, 1);
	}
	describe_cache_write("key", "systemd", 7, 0);
	cr_expect_eq(count_files("systemd"), 1);
	cr_expect_str_eq(recall("key"), "systemd");
}

Test(describe_cache, believes_no_file_that_others_may_have_written)
{
	static const char folder[] = "home/.cache/toolboxd";
	char *file = scratch_path("home/.cache/toolboxd/described-key");

	describe_cache_write("key", "{}", 2, 0);
	cr_assert(recall("key"));
	cr_assert_eq(chmod(file, 0620), 0);
	cr_expect_null(recall("key"), "a group may write the file");
	cr_assert_eq(chmod(file, 0602), 0);
	cr_expect_null(recall("key"), "all may write the file");
	cr_assert_eq(chmod(file, 0644), 0);
	cr_expect(recall("key"), "others may read it");
	cr_assert_eq(rename(file, scratch_path("elsewhere")), 0);
	cr_assert_eq(symlink(scratch_path("elsewhere"), file), 0);
	cr_expect_null(recall("key"), "it is a link");
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(rename(scratch_path("elsewhere"), file), 0);
	cr_expect(recall("key"));
	cr_assert_eq(chmod(scratch_path(folder), 0770), 0);
	cr_expect_null(recall("key"), "a group may write the folder");
	describe_cache_write("more", "{}", 2, 0);
	cr_expect_eq(count_files(folder), 1, "nothing is written there");
	cr_assert_eq(chmod(scratch_path(folder), 0700), 0);
	cr_assert_eq(rename(scratch_path(folder), scratch_path("elsewhere")), 0);
	cr_assert_eq(symlink(scratch_path("elsewhere"), scratch_path(folder)), 0);
	cr_expect_null(recall("key"), "the folder is a link");
	setenv("CACHE_DIRECTORY", scratch_path(folder), 1);
	cr_expect(recall("key"), "that of systemd may be one");
}

Test(describe_cache, believes_no_file_of_another_user)
{
	char *file = scratch_path("home/.cache/toolboxd/described-key");

	if (geteuid() != 0)
		cr_skip_test("only root gives files away");
	describe_cache_write("key", "{}", 2, 0);
	cr_assert_eq(chown(file, 65534, 65534), 0);
	cr_expect_null(recall("key"));
	cr_assert_eq(chown(file, 0, 0), 0);
	cr_expect(recall("key"));
	cr_assert_eq(chown(scratch_path("home/.cache/toolboxd"), 65534, 0), 0);
	cr_expect_null(recall("key"));
}

Test(describe_cache, keeps_what_was_used_last)
{
	char key[32];

	for (int i = 0; i < DESCRIBE_CACHE_FILES_MAX; i++) {
		struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
		char path[64];

		snprintf(key, sizeof(key), "%d", i);
		describe_cache_write(key, "x", 1, 0);
		snprintf(path, sizeof(path), "home/.cache/toolboxd/described-%d", i);
		cr_assert_eq(utimensat(AT_FDCWD, scratch_path(path), times, 0), 0);
	}
	cr_expect(recall("0"), "and so it was used just now");
	describe_cache_write("new", "x", 1, 0);
	cr_expect_eq(count_files("home/.cache/toolboxd"), DESCRIBE_CACHE_FILES_MAX);
	cr_expect(recall("0"));
	cr_expect_null(recall("1"));
	cr_expect(recall("2"));
	cr_expect(recall("new"));
}

Test(describe_cache, keeps_nothing_larger_than_the_limit)
{
	cleanup_free char *large = calloc(1, DESCRIBE_CACHE_BYTES_MAX);

	describe_cache_write("key", large, DESCRIBE_CACHE_BYTES_MAX, 0);
	cr_expect_null(recall("key"));
}

Test(describe_cache, does_without_a_folder)
{
	unsetenv("HOME");
	describe_cache_write("key", "x", 1, 0);
	cr_expect_null(recall("key"));
	setenv("HOME", "/dev/null", 1);
	describe_cache_write("key", "x", 1, 0);
	cr_expect_null(recall("key"));
}

static struct package package = {
	.library = {.file = "/lib/a.so", .digest = 1},
	.load = "{}",
	.load_size = 2,
};

static void expect_other_key(const char *what)
{
	static char first[DESCRIBE_CACHE_KEY_BYTES];
	char key[DESCRIBE_CACHE_KEY_BYTES];

	describe_cache_key(&package, key);
	cr_expect_eq(strlen(key), DESCRIBE_CACHE_KEY_BYTES - 1);
	if (!what)
		strcpy(first, key);
	else
		cr_expect_str_neq(key, first, "%s", what);
}

Test(describe_cache, has_another_key_for_all_that_may_change_the_answer)
{
	static char environment[] = "A=1\0";

	expect_other_key(NULL);
	package.library.digest = 2;
	expect_other_key("the library's bytes");
	package.library.digest = 1;
	package.library.file = "/lib/b.so";
	expect_other_key("the library's place");
	package.library.file = "/lib/a.so";
	package.load = "[]";
	expect_other_key("the LOAD frame");
	package.load = "{}";
	package.environment = environment;
	expect_other_key("the environment");
}
