/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/dropin_folders.h"

#include <criterion/criterion.h>

#include "../scratch.h"
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
