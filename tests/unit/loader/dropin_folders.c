/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/dropin_folders.h"

#include <criterion/criterion.h>

#include <errno.h>

#include "../scratch.h"
#include "manifest/folder_manifest.h"
#include "scarce.h"
#include "util/cleanup.h"

TestSuite(dropin_folders, .init = scratch_set_up, .fini = scratch_tear_down);

static void expect_found(const char *path, const char *given, const char *other)
{
	cleanup_free char *came_given = NULL;
	cleanup_free char *came_other = NULL;

	cr_assert_eq(dropin_folders_find_other(scratch_path(path), &came_given, &came_other), 0);
	cr_expect_str_eq(came_given, scratch_path(given));
	if (other)
		cr_expect_str_eq(came_other, scratch_path(other));
	else
		cr_expect_null(came_other);
}

Test(dropin_folders, finds_the_overlay_of_a_folder_however_that_is_written)
{
	scratch_write("box/tool", "");
	scratch_write("box.json", "{}");
	scratch_write("alone/tool", "");
	expect_found("box", "box", "box.json");
	expect_found("box///", "box", "box.json");
	expect_found("alone//", "alone", NULL);
}

static void expect_manifest(const char *folder, const char *manifest)
{
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		cleanup(diagnostics_deinit) struct diagnostics problems = {0};
		cleanup_free char *path = NULL;
		int r = folder_manifest_find(scratch_path(folder), &path, &problems);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%s, %zu: %d", folder, n, r);
		if (r == 0)
			cr_expect_str_eq(path, scratch_path(manifest), "%s, %zu", folder, n);
	}
	cr_expect_gt(n, 5);
}

/* Without the manifest of a folder, the programs there would be offered without a sandbox. */
Test(dropin_folders, finds_the_manifest_of_a_folder_or_reports_that_memory_is_short)
{
	scratch_write("named/named.json", "{\"kind\": \"command\", \"tools\": []}");
	scratch_write("named/named.sh", "");
	scratch_write("broken/broken.json", "{\"kind\": ");
	scratch_write("broken/broken.sh", "");
	scratch_write("only/box.json", "{\"kind\": \"command\", \"tools\": []}");
	scratch_write("only/box.sh", "");
	expect_manifest("named", "named/named.json");
	expect_manifest("broken", "broken/broken.json");
	expect_manifest("only", "only/box.json");
}

/* Without the file beside a folder, the programs there would be offered without its limits. */
Test(dropin_folders, finds_the_overlay_or_reports_that_memory_is_short)
{
	size_t n = 0;

	scratch_write("box/tool", "");
	scratch_write("box.json", "{\"kind\": \"command\", \"risk\": \"write\"}");
	for (; scarce_once_after(n); n++) {
		cleanup_free char *given = NULL;
		cleanup_free char *other = NULL;
		int r = dropin_folders_find_other(scratch_path("box.json"), &given, &other);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r == 0)
			cr_expect_str_eq(other, scratch_path("box"), "%zu", n);
	}
	cr_expect_gt(n, 3);
}
