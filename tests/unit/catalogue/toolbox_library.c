/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "catalogue/toolbox_library.h"
#include "scarce.h"
#include "util/array.h"
#include "util/cleanup.h"

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

/* Look at the file @name: hosts load a copy of the bytes, or the file. */
static void expect_copied(const char *name, bool is_copied)
{
	look_at(name);
	cr_expect_eq(library.copy != NULL, is_copied, "%s", name);
	cr_expect(toolbox_library_is_current(&library));
	replace(name, "another");
	cr_expect_eq(toolbox_library_is_current(&library), is_copied);
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

Test(toolbox_library, is_read_to_its_last_byte)
{
	char bytes[20001];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t at = 0; at < sizeof(bytes) - 1; at += 4999) {
		bytes[sizeof(bytes) - 1] = '\0';
		scratch_write("x.so", bytes);
		look_at("x.so");
		cr_expect(toolbox_library_is_unchanged(&library));
		bytes[at] = 'y';
		replace("x.so", bytes);
		cr_expect_not(toolbox_library_is_unchanged(&library), "byte %zu", at);
		bytes[at] = 'x';
	}
}

Test(toolbox_library, is_copied_unless_it_looks_for_others_beside_itself)
{
	scratch_write("x.so", "code");
	expect_copied("x.so", true);
	scratch_write("x.so", "code $ORIGIN/../lib");
	expect_copied("x.so", false);
	scratch_write("x.so", "code ${ORIGIN}");
	expect_copied("x.so", false);
	scratch_write("x.so", "");
	expect_copied("x.so", false);
}

Test(toolbox_library, was_loaded_if_the_host_reports_the_copy)
{
	static const char copy[] = "{\"missing\":\"\",\"sealed\":true}";
	static const char file[] = "{\"missing\":\"\",\"sealed\":false}";

	scratch_write("x.so", "code");
	look_at("x.so");
	cr_expect(toolbox_library_was_loaded(&library, copy, strlen(copy)));
	cr_expect_not(toolbox_library_was_loaded(&library, file, strlen(file)));
	cr_expect_not(toolbox_library_was_loaded(&library, "{}", 2));
	cr_expect_not(toolbox_library_was_loaded(&library, "x", 1));
	sealed_file_unref(take_ptr(library.copy));
	cr_expect(toolbox_library_was_loaded(&library, file, strlen(file)));
	cr_expect(toolbox_library_was_loaded(&library, "x", 1), "it is read only for a copy");
	replace("x.so", "CODE");
	cr_expect_not(toolbox_library_was_loaded(&library, file, strlen(file)));
}

Test(toolbox_library, of_two_toolboxes_is_one_copy)
{
	struct toolbox_library other = {0};

	scratch_write("x.so", "code");
	scratch_write("y.so", "code");
	look_at("x.so");
	cr_assert_eq(toolbox_library_find(scratch_path("y.so"), "/", NULL, &other), 0);
	cr_assert_eq(toolbox_library_look(&other), 0);
	cr_expect_eq(library.copy, other.copy);
	cr_assert_eq(toolbox_library_look_like(&other, &library), 0);
	cr_expect_eq(library.copy, other.copy);
	toolbox_library_deinit(&other);
	cr_expect_eq(library.copy->references, 1);
}

/* Look at the files x.so and y.so, as the libraries of one toolbox. */
static void look_at_two(struct toolbox_library *two)
{
	scratch_write("x.so", "one");
	scratch_write("y.so", "two");
	look_at("x.so");
	cr_assert_eq(toolbox_library_find(scratch_path("y.so"), "/", NULL, two), 0);
	cr_assert_eq(toolbox_library_look(two), 0);
	library.next = two;
}

Test(toolbox_library, of_several_each_one_is_looked_at)
{
	struct toolbox_library *two = calloc(1, sizeof(*two));
	uint64_t digest;

	cr_assert(two);
	look_at_two(two);
	digest = toolbox_library_digest(&library);
	cr_expect(toolbox_library_is_unchanged(&library));
	cr_expect(toolbox_library_is_same(&library, &library));
	replace("y.so", "another");
	cr_expect_not(toolbox_library_is_unchanged(&library), "the second one was replaced");
	cr_expect(toolbox_library_is_current(&library), "its hosts have the copy");
	sealed_file_unref(take_ptr(two->copy));
	cr_expect_not(toolbox_library_is_current(&library));
	cr_assert_eq(toolbox_library_look(two), 0);
	cr_expect_neq(toolbox_library_digest(&library), digest);
	library.next = NULL;
	cr_expect_not(toolbox_library_is_same(&library, two));
	library.next = two;
}

Test(toolbox_library, of_several_was_loaded_if_the_host_reports_each_copy)
{
	static const char both[] = "{\"libraries\":[{\"sealed\":true},{\"sealed\":true}]}";
	static const char first[] = "{\"libraries\":[{\"sealed\":true},{\"sealed\":false}]}";
	static const char *const others[] = {first, "{\"libraries\":[{\"sealed\":true}]}",
		"{\"libraries\":[{\"sealed\":true},7]}", "{\"libraries\":7}", "{\"sealed\":true}",
		"[]", "{"};
	struct toolbox_library *two = calloc(1, sizeof(*two));

	cr_assert(two);
	look_at_two(two);
	cr_expect(toolbox_library_was_loaded(&library, both, strlen(both)));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		cr_expect_not(toolbox_library_was_loaded(&library, others[i], strlen(others[i])),
			"%s", others[i]);
	sealed_file_unref(take_ptr(two->copy));
	cr_expect(
		toolbox_library_was_loaded(&library, first, strlen(first)), "the file is the same");
	replace("y.so", "another");
	cr_expect_not(toolbox_library_was_loaded(&library, first, strlen(first)));
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

Test(toolbox_library, is_found_and_looked_at_or_memory_is_short)
{
	size_t n = 0;

	scratch_write("box/x.so", "code");
	for (; scarce_once_after(n); n++) {
		int r;

		toolbox_library_deinit(&library);
		r = toolbox_library_find(
			"x.so", scratch_path("box"), scratch_path("lib"), &library);
		r = r ? r : toolbox_library_look(&library);
		if (!scarce_has_failed() || r != -ENOMEM)
			cr_expect(r == 0 && library.digest != 0, "%zu: %d", n, r);
	}
	cr_expect_gt(n, 3);
}
