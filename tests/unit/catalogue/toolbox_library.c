/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>

#include "../scratch.h"
#include "catalogue/toolbox_library.h"

static struct toolbox_library library;

static void tear_down(void)
{
	toolbox_library_deinit(&library);
	scratch_tear_down();
}

TestSuite(toolbox_library, .init = scratch_set_up, .fini = tear_down);

static void expect_found(const char *name, const char *path, const char *file)
{
	char *folder = scratch_path("box");

	toolbox_library_deinit(&library);
	cr_assert_eq(toolbox_library_find(name, folder, scratch_path("lib"), &library), 0);
	cr_expect_str_eq(library.path, path);
	if (file)
		cr_expect_str_eq(library.file, file);
	else
		cr_expect_null(library.file);
}

static void look_at(const char *name)
{
	toolbox_library_deinit(&library);
	cr_assert_eq(toolbox_library_find(scratch_path(name), "/", NULL, &library), 0);
	cr_assert_eq(toolbox_library_look(&library), 0);
}

static void replace(const char *name, const char *text)
{
	scratch_write("new", text);
	cr_assert_eq(rename(scratch_path("new"), scratch_path(name)), 0);
}

Test(toolbox_library, with_a_slash_is_a_path)
{
	expect_found("/usr/lib/x.so", "/usr/lib/x.so", "/usr/lib/x.so");
	expect_found("./x.so", scratch_path("box/./x.so"), scratch_path("box/./x.so"));
	expect_found(
		"../lib/x.so", scratch_path("box/../lib/x.so"), scratch_path("box/../lib/x.so"));
}

Test(toolbox_library, without_is_looked_for_beside_the_manifest_first)
{
	expect_found("x.so", "x.so", NULL);
	scratch_write("lib/x.so", "");
	expect_found("x.so", scratch_path("lib/x.so"), scratch_path("lib/x.so"));
	scratch_write("box/x.so", "");
	expect_found("x.so", scratch_path("box/x.so"), scratch_path("box/x.so"));
}

Test(toolbox_library, needs_no_library_folder)
{
	cr_assert_eq(toolbox_library_find("x.so", "/nowhere", NULL, &library), 0);
	cr_expect_str_eq(library.path, "x.so");
}

Test(toolbox_library, of_the_linker_is_known_once_somebody_tells_where_it_is)
{
	cr_assert_eq(toolbox_library_find("x.so", "/nowhere", NULL, &library), 0);
	cr_expect_eq(toolbox_library_look(&library), -ENOENT);
	cr_expect_not(toolbox_library_is_unchanged(&library));
	scratch_write("x.so", "code");
	cr_assert_eq(toolbox_library_set_file(&library, scratch_path("x.so")), 0);
	cr_assert_eq(toolbox_library_set_file(&library, scratch_path("x.so")), 0);
	cr_expect_eq(toolbox_library_look(&library), 0);
	cr_expect(toolbox_library_is_unchanged(&library));
	cr_expect_str_eq(library.path, "x.so", "it is loaded by its name all the same");
}

Test(toolbox_library, is_unchanged_as_long_as_its_bytes_are)
{
	scratch_write("x.so", "code");
	look_at("x.so");
	cr_expect(toolbox_library_is_unchanged(&library));
	replace("x.so", "code");
	cr_expect(toolbox_library_is_unchanged(&library), "another file of the same bytes");
	replace("x.so", "CODE");
	cr_expect_not(toolbox_library_is_unchanged(&library));
	replace("x.so", "code, longer");
	cr_expect_not(toolbox_library_is_unchanged(&library));
	cr_assert_eq(unlink(scratch_path("x.so")), 0);
	cr_expect_not(toolbox_library_is_unchanged(&library));
}

Test(toolbox_library, too_large_to_read_has_changed_when_its_file_has)
{
	scratch_write("x.so", "code");
	cr_assert_eq(truncate(scratch_path("x.so"), TOOLBOX_LIBRARY_DIGEST_MAX + 1), 0);
	look_at("x.so");
	cr_expect(toolbox_library_is_unchanged(&library));
	scratch_write("new", "code");
	cr_assert_eq(truncate(scratch_path("new"), TOOLBOX_LIBRARY_DIGEST_MAX + 1), 0);
	cr_assert_eq(rename(scratch_path("new"), scratch_path("x.so")), 0);
	cr_expect_not(toolbox_library_is_unchanged(&library));
}

/* The host may name any file as a library: it must not stop the loop. */
Test(toolbox_library, of_terabytes_costs_nothing, .timeout = 60)
{
	scratch_write("x.so", "");
	if (truncate(scratch_path("x.so"), INT64_C(1) << 40) < 0)
		cr_skip("no sparse files here");
	look_at("x.so");
	cr_expect_eq(library.stamp.size, UINT64_C(1) << 40);
}

Test(toolbox_library, that_is_no_file_is_not_looked_at)
{
	cr_assert_eq(mkfifo(scratch_path("x.so"), 0600), 0);
	cr_assert_eq(toolbox_library_find(scratch_path("x.so"), "/", NULL, &library), 0);
	cr_expect_eq(toolbox_library_look(&library), -EINVAL);
	cr_expect_not(toolbox_library_is_unchanged(&library));
}
