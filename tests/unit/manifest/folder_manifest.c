/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/folder_manifest.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest_fixture.h"
#include "scarce.h"
#include "util/cleanup.h"

/* The manifest of a folder, perhaps of programs. */

TestSuite(folder_manifest, .init = manifest_set_up, .fini = manifest_tear_down);

#define MANIFEST "{'kind':'native','library':'libm.so.6','tools':[]}"

/* Expect the manifest @name, in the folder `box`; NULL: none is found. */
static void expect_manifest(const char *name)
{
	cleanup_free char *path = NULL;
	struct diagnostics found = {0};

	cr_assert_eq(folder_manifest_find(manifest_path("box"), &path, &found), 0);
	cr_expect_eq(found.n_items, 0);
	if (name)
		cr_expect_str_eq(path ? path : "none", manifest_path(name));
	else
		cr_expect_null(path, "%s", path);
}

static void write_program(const char *name)
{
	manifest_write(name, "#!/bin/sh\n");
	cr_assert_eq(chmod(manifest_path(name), 0700), 0);
}

Test(folder_manifest, is_none_where_there_is_no_manifest)
{
	expect_manifest(NULL);
	manifest_write("box/README", MANIFEST);
	manifest_write("box/.json", MANIFEST);
	manifest_write("box/.hidden.json", MANIFEST);
	manifest_write("box/_off.json", MANIFEST);
	manifest_write("box/data.json", "{'rows':[]}");
	manifest_write("box/list.json", "[{'name':'a'}]");
	manifest_write("box/empty.json", "[]");
	manifest_write("box/number.json", "7");
	manifest_write("box/broken.json", "{'kind':");
	expect_manifest(NULL);
}

Test(folder_manifest, is_the_one_that_looks_like_a_manifest)
{
	static const char *const texts[] = {
		"{'kind':7}", "{'library':'x'}", "{'tools':[]}", "[{'name':'a','command':'ls'}]"};

	manifest_write("box/data.json", "{'rows':[]}");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		manifest_write("box/my.json", texts[i]);
		expect_manifest("box/my.json");
	}
}

Test(folder_manifest, has_the_name_of_its_folder_before_all_others)
{
	manifest_write("box/a.json", MANIFEST);
	manifest_write("box/box.json", "{'rows':[]}");
	expect_manifest("box/a.json");
	manifest_write("box/box.json", MANIFEST);
	expect_manifest("box/box.json");
}

Test(folder_manifest, that_is_broken_is_found_unless_it_defines_a_program)
{
	manifest_write("box/box.json", "{'kind':");
	expect_manifest("box/box.json");
	write_program("box/box.sh");
	expect_manifest(NULL);
}

Test(folder_manifest, is_no_folder_with_the_name_of_one)
{
	manifest_write("box/box.json/file", "");
	manifest_write("box/a.json/file", "");
	expect_manifest(NULL);
	manifest_write("box/b.json", MANIFEST);
	expect_manifest("box/b.json");
}

Test(folder_manifest, is_no_definition_of_a_program)
{
	manifest_write("box/bell.json", MANIFEST);
	manifest_write("box/bell.sh", "#!/bin/sh\n");
	expect_manifest("box/bell.json");
	write_program("box/bells.sh");
	expect_manifest("box/bell.json");
	write_program("box/bell.sh");
	expect_manifest(NULL);
}

Test(folder_manifest, is_one_of_two_that_are_both_named)
{
	static const char advice[] =
		" are manifests, and neither has the name of their folder: move each to a folder "
		"of its own";
	char *path = NULL;
	struct diagnostics found = {0};

	manifest_write("box/a.json", MANIFEST);
	manifest_write("box/b.json", MANIFEST);
	cr_expect_eq(folder_manifest_find(manifest_path("box"), &path, &found),
		FOLDER_MANIFEST_E_SEVERAL);
	cr_assert_eq(found.n_items, 1);
	cr_expect(strstr(found.items[0].text, "/a.json"));
	cr_expect(strstr(found.items[0].text, "/b.json"));
	cr_expect(strstr(found.items[0].text, advice), "%s", found.items[0].text);
	cr_expect_null(path);
	diagnostics_deinit(&found);
}

Test(folder_manifest, is_found_or_memory_is_short)
{
	write_program("box/bell.sh");
	manifest_write("box/bell.json", MANIFEST);
	manifest_write("box/other.json", MANIFEST);
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup_free char *path = NULL;
		struct diagnostics found = {0};
		int r = folder_manifest_find(manifest_path("box"), &path, &found);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu", n);
		cr_expect(r < 0 || path, "%zu", n);
		diagnostics_deinit(&found);
	}
}
