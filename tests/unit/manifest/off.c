/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/off.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "manifest/dropin/dropins.h"
#include "scarce.h"

/* Manifests of toolboxes that are off: of "box" by the configuration, or by the manifest. */

#define TOO_LARGE ((off_t)10 << 30)

static struct manifest_reader *reader;
static struct package *package;
static struct diagnostics problems;
static const char *off_id;

static bool is_off(const void *data, const struct package *judged)
{
	cr_expect_eq(data, &off_id);
	return strcmp(judged->id, off_id) == 0 || judged->off;
}

static void set_up(void)
{
	scratch_set_up();
	reader = manifest_reader_new(NULL);
	cr_assert(reader);
	off_id = "box";
	manifest_reader_leave_out(reader, is_off, &off_id);
}

static void forget(void)
{
	package_unref(package);
	package = NULL;
	diagnostics_deinit(&problems);
}

static void tear_down(void)
{
	forget();
	manifest_reader_free(reader);
	scratch_tear_down();
}

TestSuite(off, .init = set_up, .fini = tear_down, .timeout = 60);

static int read_box(void)
{
	forget();
	return manifest_read(reader, scratch_path("box.json"), &package, &problems);
}

/* Fail unless the manifest @text makes the toolbox @id without being read: its mistakes are not
 * found. */
static void expect_unread(const char *text, const char *id)
{
	scratch_write_json("box.json", text);
	cr_assert_eq(read_box(), 0, "%s", text);
	cr_assert(package && package->is_left_out, "%s", text);
	cr_expect_str_eq(package->id, id);
	cr_expect_str_eq(package->toolboxes[0]->id, id);
	cr_expect_str_eq(package->file, scratch_path("box.json"));
	cr_expect_eq(package->toolboxes[0]->n_tools, 0);
	cr_expect_eq(problems.n_items, 0, "%s", text);
}

/* Fail unless the manifest @text is read, and so its mistakes are found. */
static void expect_refused(const char *text)
{
	scratch_write_json("box.json", text);
	cr_expect_eq(read_box(), MANIFEST_E_REFUSED, "%s", text);
	cr_expect_null(package);
	cr_expect_gt(problems.n_errors, 0, "%s", text);
}

Test(off, is_known_by_its_id_alone)
{
	expect_unread("{'kind':'plugin'}", "box");
	cr_expect_eq(package->kind, KIND_PLUGIN);
	cr_expect_null(package->off);
	expect_unread("{'kind':'native','tools':[{'name':7}],'nonsense':{'a':[1}}}", "box");
	off_id = "other";
	expect_unread(" {\n'tools' : ['}'],'toolbox_id' : 'other', 'kind':'bus'}\n", "other");
	cr_expect_eq(package->kind, KIND_BUS);
}

Test(off, is_known_by_its_manifest)
{
	off_id = "";
	expect_unread("{'kind':'command','enabled':false,'tools':7}", "box");
	cr_expect_str_eq(package->off, "disabled by its manifest; toolboxctl enable box");
	expect_refused("{'kind':'command','enabled':true,'tools':7}");
}

Test(off, has_what_is_shown_of_it)
{
	expect_unread("{'kind':'plugin','description':'Pages \\u00e4.','sandbox':{'class':'net'}}",
		"box");
	cr_expect_str_eq(package->toolboxes[0]->description, "Pages \u00e4.");
	cr_expect_eq(package->sandbox.class, SANDBOX_NET);
	expect_unread("{'kind':'command','description':7,'sandbox':{'class':'no'}}", "box");
	cr_expect_null(package->toolboxes[0]->description);
	cr_expect_eq(package->sandbox.class, SANDBOX_COMMAND);
}

/* The id in the manifest counts, and only an id that is certain leaves a manifest unread. */
Test(off, is_no_manifest_of_another_toolbox)
{
	expect_refused("{'toolbox_id':'other','kind':'plugin'}");
	expect_refused("{'kind':'plugin','toolbox\\u005fid':'other'}");
	expect_refused("{'toolbox_id':'box','toolbox_id':'other','kind':'plugin'}");
	expect_refused("{'toolbox_id':'other','toolbox_id':'box','kind':'plugin'}");
	expect_refused("{'kind':'plugin','enabled':true,'enabled':false}");
	expect_refused("{'toolbox_id':'a box','kind':'plugin','enabled':false}");
	expect_refused("{'toolbox_id':7,'kind':'plugin'}");
	expect_refused("{'toolbox_id':'b\\u006fx','kind':'plugin'}");
	expect_refused("{'toolbox_id':'','kind':'plugin'}");
	expect_refused("{'kind':'plugin','enabled':'false'}");
	expect_refused("{'kind':'nonsense'}");
	expect_refused("{'kind':plugin}");
	expect_refused("{'library':'libm.so.6'}");
	expect_refused("{'kind':'plugin'} {");
	expect_refused("{'kind':'plugin',}");
	expect_refused("{'kind':'plugin'");
	expect_refused("{'kind' 'plugin'}");
	expect_refused("['kind','plugin']");
	expect_refused("");
}

/* A list has toolboxes with ids of their own, and so has an interpreter. */
Test(off, is_no_list_of_others)
{
	scratch_write_json("box.json", "{'kind':'mcp','mcpServers':{}}");
	cr_expect_eq(read_box(), MANIFEST_IS_LIST);
	expect_refused("{'kind':'python','nonsense':1}");
}

Test(off, is_read_by_a_check)
{
	manifest_reader_check_off(reader);
	expect_refused("{'kind':'plugin'}");
	manifest_reader_leave_out(reader, NULL, NULL);
	expect_refused("{'kind':'plugin','enabled':false}");
}

/* Nothing of such a file is known: it is refused at once, on or off. */
Test(off, has_a_file_that_can_be_read)
{
	const char *path = scratch_path("box.json");

	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(read_box(), MANIFEST_E_REFUSED);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_eq(read_box(), MANIFEST_E_REFUSED);
	cr_assert_eq(rmdir(path), 0);
	cr_assert_eq(symlink("nowhere", path), 0);
	cr_expect_eq(read_box(), MANIFEST_E_REFUSED);
	cr_assert_eq(unlink(path), 0);
	scratch_write("box.json", "{");
	cr_assert_eq(truncate(path, TOO_LARGE), 0);
	cr_expect_eq(read_box(), MANIFEST_E_REFUSED);
	cr_assert_eq(unlink(path), 0);
	scratch_write_json("real", "{'kind':'plugin'}");
	cr_assert_eq(symlink("real", path), 0);
	cr_expect_eq(read_box(), 0, "a link is as good as the file");
	cr_expect(package && package->is_left_out);
}

Test(off, has_an_id_of_128_characters_and_no_longer_one)
{
	char id[130];
	char text[256];

	for (size_t size = 128; size <= 129; size++) {
		memset(id, 'a', size);
		id[size] = '\0';
		off_id = id;
		snprintf(text, sizeof(text), "{'kind':'plugin','toolbox_id':'%s','tools':7}", id);
		if (size == 128)
			expect_unread(text, id);
		else
			expect_refused(text);
	}
}

Test(off, has_as_much_as_can_be_read)
{
	static const struct {
		const char *more;
		const char *description; /* NULL: none */
		enum sandbox_class class;
	} rows[] = {
		{",'description':''", "", SANDBOX_COMPUTE},
		{",'description':'a \\u0062'", "a b", SANDBOX_COMPUTE},
		{",'description':'\\ud800'", NULL, SANDBOX_COMPUTE},
		{",'description':null", NULL, SANDBOX_COMPUTE},
		{",'sandbox':{'class':'none'}", NULL, SANDBOX_NONE},
		{",'sandbox':{'read':[{'class':'none'}],'class':'command'}", NULL, SANDBOX_COMMAND},
		{",'sandbox':{'class':7}", NULL, SANDBOX_COMPUTE},
		{",'sandbox':{'class':'none','class':'net'}", NULL, SANDBOX_COMPUTE},
		{",'sandbox':'none'", NULL, SANDBOX_COMPUTE},
		{",'sandbox':{}", NULL, SANDBOX_COMPUTE},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *description;

		snprintf(text, sizeof(text), "{'kind':'plugin'%s}", rows[i].more);
		expect_unread(text, "box");
		description = package->toolboxes[0]->description;
		cr_expect_str_eq(description ? description : "none",
			rows[i].description ? rows[i].description : "none", "%s", text);
		cr_expect_eq(package->sandbox.class, rows[i].class, "%s", text);
		cr_expect_eq(package->limits.workers, 1);
	}
}

Test(off, is_known_or_memory_is_short)
{
	size_t n = 0;

	scratch_write_json("box.json",
		"{'kind':'plugin','enabled':false,'description':'a \\u0062','tools':7}");
	for (; scarce_once_after(n); n++) {
		int r = read_box();

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		if (r < 0)
			continue;
		cr_expect_str_eq(package->toolboxes[0]->description, "a b");
		cr_expect_str_eq(package->off, "disabled by its manifest; toolboxctl enable box");
	}
	cr_expect_gt(n, 5);
}

/* ── folders of programs ─────────────────────────────────────────────────────────────────────── */

static int read_programs(const char *overlay)
{
	cleanup(dropin_toolboxes_deinit) struct dropin_toolboxes toolboxes = {0};
	cleanup(skipped_list_deinit) struct skipped_list skipped = {0};

	forget();
	return dropins_read(reader, scratch_path("box"), overlay ? scratch_path(overlay) : NULL,
		&package, &toolboxes, &skipped, &problems);
}

Test(off, leaves_the_programs_of_a_folder_unread)
{
	scratch_write("box/lights", "#!/bin/sh\n# param: nonsense\n# risk: nonsense\n");
	cr_assert_eq(chmod(scratch_path("box/lights"), 0700), 0);
	cr_assert_eq(read_programs(NULL), 0);
	cr_assert(package && package->is_left_out);
	cr_expect_str_eq(package->id, "box");
	cr_expect_eq(package->kind, KIND_COMMAND);
	cr_expect_eq(problems.n_items, 0, "%s", problems.n_items ? problems.items[0].text : "");
	off_id = "";
	scratch_write_json("box.json", "{'kind':'command','enabled':false,'description':'d'}");
	cr_assert_eq(read_programs("box.json"), 0);
	cr_assert(package && package->is_left_out);
	cr_expect_str_eq(package->off, "disabled by its manifest; toolboxctl enable box");
	cr_expect_str_eq(package->toolboxes[0]->description, "d");
	cr_assert_eq(unlink(scratch_path("box/lights")), 0);
	cr_assert_eq(read_programs("box.json"), 0);
	cr_expect_null(package, "a folder without programs is no toolbox");
}

/* The name of a folder has no suffix, and a folder no stamp of the file read before. */
Test(off, knows_a_folder_by_its_whole_name)
{
	cleanup(dropin_toolboxes_deinit) struct dropin_toolboxes toolboxes = {0};
	cleanup(skipped_list_deinit) struct skipped_list skipped = {0};

	scratch_write("box/lights", "#!/bin/sh\n");
	scratch_write("box.json/lights", "#!/bin/sh\n");
	cr_assert_eq(chmod(scratch_path("box/lights"), 0700), 0);
	cr_assert_eq(chmod(scratch_path("box.json/lights"), 0700), 0);
	cr_expect_eq(dropins_read(reader, scratch_path("box.json"), NULL, &package, &toolboxes,
			     &skipped, &problems),
		MANIFEST_E_REFUSED);
	cr_expect_null(package);
	scratch_write_json("other.json", "{'toolbox_id':'box','kind':'plugin'}");
	forget();
	cr_assert_eq(manifest_read(reader, scratch_path("other.json"), &package, &problems), 0);
	cr_expect_neq(package->stamp.inode, 0);
	cr_assert_eq(read_programs(NULL), 0);
	cr_assert(package && package->is_left_out);
	cr_expect_eq(package->stamp.inode, 0);
}
