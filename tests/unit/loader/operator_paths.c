/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/paths.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "loader/operator/state_folder.h"
#include "loader/settings.h"
#include "manifest_fixture.h"
#include "quotes.h"
#include "scarce.h"
#include "../scratch.h"

/* Settings in the sandbox of a plugin. */

static struct config_toolbox settings;
static struct config config = {.toolboxes = &settings, .n_toolboxes = 1};

static void set_up(void)
{
	manifest_set_up();
	setenv("HOME", "/usr", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("STATE_DIRECTORY");
	settings = (struct config_toolbox){
		.toolbox_id = (char *)"box", .is_enabled = true, .digest = 1};
}

static void tear_down(void)
{
	free(settings.config);
	manifest_tear_down();
}

TestSuite(operator_paths, .init = set_up, .fini = tear_down, .timeout = 60);

#define PLUGIN(more) "{'kind':'plugin','library':'libm.so.6'" more "}"
#define USUAL                                                                                      \
	PLUGIN(",'config':{'roots':['~'],'more':[]},"                                              \
	       "'sandbox':{'read':['/fixed','$roots'],'write':['$more']}")

/* Read the manifest @text, with the settings @own. */
static int resolve(const char *text, const char *own, struct sandbox_refusal *refusal)
{
	read_good(text);
	free(settings.config);
	settings.config = own ? quoted(own) : NULL;
	cr_assert_eq(settings_apply(&config, package), 0);
	return operator_paths_resolve(&config, package, refusal);
}

static bool has(const struct sandbox_paths *paths, const char *path)
{
	return text_list_has(&paths->list, path);
}

Test(operator_paths, take_the_place_of_their_setting)
{
	struct sandbox_refusal refusal;
	const struct sandbox_paths *read;

	cr_assert_eq(resolve(USUAL, NULL, &refusal), 0);
	read = &package->sandbox.read;
	cr_assert_eq(read->list.n_items, 2);
	cr_expect_str_eq(read->list.items[0], "/fixed");
	cr_expect_str_eq(read->list.items[1], "/usr");
	cr_expect_eq(read->n_operator, 0, "the manifest has named it");
	cr_expect(package->sandbox.write.is_given);
	cr_expect_eq(package->sandbox.write.list.n_items, 0);
	cr_expect(strstr(package->config, "\"roots\":[\"/usr\"]"), "%s", package->config);
	cr_assert_eq(resolve(USUAL, "{'roots':['/a','~/b'],'more':['/c']}", &refusal), 0);
	read = &package->sandbox.read;
	cr_assert_eq(read->list.n_items, 3);
	cr_expect_str_eq(read->list.items[2], "/usr/b");
	cr_expect_eq(read->n_operator, 2);
	cr_expect_str_eq(package->sandbox.write.list.items[0], "/c");
	cr_expect(strstr(package->load, "\"/usr/b\""), "%s", package->load);
}

Test(operator_paths, follow_all_others)
{
	struct sandbox_refusal refusal;
	const struct sandbox_paths *read;

	cr_assert_eq(resolve(PLUGIN(",'config':{'roots':['~'],'more':['/d']},'sandbox':{'read':["
				    "'/a','$roots','/b','$more','/c']}"),
			     "{'roots':['/e']}", &refusal),
		0);
	read = &package->sandbox.read;
	cr_assert_eq(read->list.n_items, 5);
	for (size_t i = 0; i < read->list.n_items; i++)
		cr_expect_str_eq(
			read->list.items[i], ((const char[][3]){"/a", "/b", "/c", "/d", "/e"})[i]);
	cr_expect_eq(read->n_operator, 1);
}

Test(operator_paths, may_be_a_single_one)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve(USUAL, "{'more':'~/file'}", &refusal), 0);
	cr_assert_eq(package->sandbox.write.list.n_items, 1);
	cr_expect_str_eq(package->sandbox.write.list.items[0], "/usr/file");
	cr_expect(strstr(package->config, "\"more\":[\"/usr/file\"]"), "%s", package->config);
}

Test(operator_paths, of_a_home_that_is_not_there_are_left_out)
{
	struct sandbox_refusal refusal;

	setenv("HOME", "/nowhere", 1);
	cr_assert_eq(resolve(USUAL, "{'more':['~/a','/b']}", &refusal), 0);
	cr_expect_eq(package->sandbox.read.list.n_items, 1);
	cr_assert_eq(package->sandbox.write.list.n_items, 1);
	cr_expect_str_eq(package->sandbox.write.list.items[0], "/b");
}

Test(operator_paths, of_a_name_without_a_setting_are_none_and_the_name_is_kept)
{
	char *read[] = {(char *)"$roots", (char *)"$rots", (char *)"/x", (char *)"$state_folder",
		(char *)"$own", (char *)"$files.roots", (char *)"$kept"};
	char *write[] = {(char *)"$mine.roots", (char *)"$mine.rots", (char *)"$fils.roots"};
	struct config_toolbox all[2];
	const struct text_list *unknown;

	read_good(PLUGIN(",'config':{'roots':['~']},'sandbox':{'read':['$kept']}"));
	settings.config = quoted("{'own':'/own','mine':{'roots':[]}}");
	settings.sandbox.read = (struct sandbox_paths){{read, 7}, true, 0};
	settings.sandbox.write = (struct sandbox_paths){{write, 3}, true, 0};
	all[0] = settings;
	all[1] = (struct config_toolbox){.toolbox_id = (char *)"files", .is_enabled = true};
	all[1].config = quoted("{'roots':['/theirs']}");
	config = (struct config){.toolboxes = all, .n_toolboxes = 2};
	cr_assert_eq(settings_apply(&config, package), 0);
	unknown = &package->unknown_settings;
	cr_assert_eq(unknown->n_items, 3);
	cr_expect_str_eq(unknown->items[0], "rots");
	cr_expect_str_eq(unknown->items[1], "mine.rots");
	cr_expect_str_eq(unknown->items[2], "fils.roots");
	free(all[1].config);
}

Test(operator_paths, have_no_name_where_there_are_no_settings)
{
	char *read[] = {(char *)"$rots"};

	read_good(PLUGIN(""));
	settings.sandbox.read = (struct sandbox_paths){{read, 1}, true, 0};
	cr_assert_eq(settings_apply(&config, package), 0);
	cr_assert_eq(package->unknown_settings.n_items, 1);
	cr_expect_str_eq(package->unknown_settings.items[0], "rots");
}

Test(operator_paths, may_be_the_setting_of_another_toolbox)
{
	const char *manifest =
		PLUGIN(",'config':{'other':{'roots':['~']}},'sandbox':{'read':['$other.roots']}");
	struct config_toolbox both[2];
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve(manifest, "{'roots':['/own']}", &refusal), 0);
	cr_expect(package->has_foreign_setting);
	cr_assert_eq(package->sandbox.read.list.n_items, 1);
	cr_expect_str_eq(
		package->sandbox.read.list.items[0], "/usr", "the manifest's, without another");
	cr_expect_eq(package->sandbox.read.n_operator, 0);
	cr_assert_eq(resolve(manifest, "{'other':{'roots':['/own']}}", &refusal), 0);
	cr_expect_str_eq(package->sandbox.read.list.items[0], "/own");
	cr_expect_eq(package->sandbox.read.n_operator, 1);
	both[0] = settings;
	both[1] = (struct config_toolbox){.toolbox_id = (char *)"other", .is_enabled = true};
	both[1].config = quoted("{'roots':['/theirs','~/more']}");
	read_good(manifest);
	config = (struct config){.toolboxes = both, .n_toolboxes = 2};
	cr_assert_eq(settings_apply(&config, package), 0);
	cr_assert_eq(operator_paths_resolve(&config, package, &refusal), 0);
	cr_assert_eq(package->sandbox.read.list.n_items, 2);
	cr_expect_str_eq(package->sandbox.read.list.items[0], "/theirs");
	cr_expect_str_eq(package->sandbox.read.list.items[1], "/usr/more");
	cr_expect_eq(package->sandbox.read.n_operator, 2);
	cr_expect(operator_settings_hold(&config, package));
	both[1].config[0] = ' ';
	cr_expect_not(operator_settings_hold(&config, package),
		"what the other one has is another thing");
	cr_expect(strstr(package->config, "\"other\":{\"roots\":[\"/theirs\",\"/usr/more\"]}"),
		"%s", package->config);
	free(both[1].config);
	both[1].config = quoted("{'roots':7}");
	read_good(manifest);
	cr_assert_eq(settings_apply(&config, package), 0);
	cr_assert_eq(operator_paths_resolve(&config, package, &refusal), OPERATOR_PATHS_E_REFUSED);
	cr_expect(strstr(refusal.text, "toolboxes.other.roots must be a path"), "%s", refusal.text);
	free(both[1].config);
	config = (struct config){.toolboxes = &settings, .n_toolboxes = 1};
}

/* The defaults of a manifest pass sandbox_max no better than its other paths. */
Test(operator_paths, are_the_operators_and_not_the_manifests)
{
	const char *manifest = PLUGIN(",'config':{'roots':['/etc'],'more':['/usr']},"
				      "'sandbox':{'read':['$more','$roots']}");
	const struct sandbox_paths *read;
	struct sandbox_refusal refusal;

	config.sandbox_max = SANDBOX_COMPUTE;
	cr_assert_eq(resolve(manifest, "{'more':['/var']}", &refusal), 0);
	read = &package->sandbox.read;
	cr_assert_eq(read->list.n_items, 2);
	cr_expect_str_eq(read->list.items[0], "/etc", "the manifest's come first");
	cr_expect_str_eq(read->list.items[1], "/var");
	cr_expect_eq(read->n_operator, 1);
	cr_expect(sandbox_max_refuses(&config, package, &refusal));
	cr_expect_str_eq(refusal.pointer, "/sandbox/read/0");
	cr_assert_eq(resolve(manifest, "{'more':['/var'],'roots':null}", &refusal), 0);
	cr_expect_not(sandbox_max_refuses(&config, package, &refusal), "%s", refusal.text);
	config.sandbox_max = SANDBOX_NONE;
	cr_assert_eq(resolve(manifest, NULL, &refusal), 0);
	cr_expect_not(sandbox_max_refuses(&config, package, &refusal));
}

Test(operator_paths, of_a_manifest_open_no_secret)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve(PLUGIN(",'config':{'roots':['~'],'allow_secrets':['~/.netrc']},"
				    "'sandbox':{'read':['$roots']}"),
			     NULL, &refusal),
		0);
	cr_expect(has(&package->sandbox.hidden, "/usr/.netrc"));
	cr_expect_not(has(&package->sandbox.read, "/usr/.netrc"));
	cr_expect(strstr(package->config, "\"allow_secrets\":[]"), "%s", package->config);
}

Test(operator_paths, have_fences)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve(USUAL, "{'allow_secrets':['~/.netrc']}", &refusal), 0);
	cr_expect(has(&package->sandbox.hidden, "/usr/.ssh"));
	cr_expect_not(has(&package->sandbox.hidden, "/usr/.netrc"), "an exception");
	cr_expect(has(&package->sandbox.read, "/usr/.netrc"));
	cr_expect(has(&package->sandbox.kept, "/usr/.bashrc"));
	cr_expect(has(&package->sandbox.kept, "/usr/.config/mycroft"));
	cr_expect(
		strstr(package->config, "\"fences\":{\"hidden\":[\".ssh\""), "%s", package->config);
	cr_expect(strstr(package->load, "\"hidden\":["));
	cr_assert_eq(resolve(PLUGIN(",'sandbox':{'read':['/a']}"), NULL, &refusal), 0);
	cr_expect_eq(package->sandbox.hidden.list.n_items, 0, "there is no path of an operator");
}

/* The processes of a toolbox have the fences of their start. */
Test(operator_paths, hold_until_the_configuration_names_another_secret)
{
	struct sandbox_refusal refusal;

	cr_assert_eq(resolve(PLUGIN(""), NULL, &refusal), 0);
	config.approval_key_file = (char *)"/k/any";
	cr_expect(operator_settings_hold(&config, package), "a toolbox without paths has none");
	cr_assert_eq(resolve(USUAL, NULL, &refusal), 0);
	cr_expect(operator_settings_hold(&config, package));
	config.approval_key_file = (char *)"/k/other";
	cr_expect_not(operator_settings_hold(&config, package));
	cr_assert_eq(resolve(USUAL, NULL, &refusal), 0);
	cr_expect(operator_settings_hold(&config, package));
	config.approval_key_file = NULL;
	cr_expect_not(operator_settings_hold(&config, package));
}

Test(operator_paths, are_refused_when_they_are_none)
{
	static const char *const cases[][2] = {
		{"{'roots':'a'}", "toolboxes.box.roots must be a path, or a list of at most 64"},
		{"{'roots':{}}", "another value"},
		{"{'roots':['a']}", "found a"},
		{"{'roots':['~other/a']}", "found ~other/a"},
		{"{'roots':['']}", "absolute or below ~/"},
		{"{'roots':[1]}", "another value"},
		{"{'roots':['/a\\u0000b']}", "found /a"},
		{"{'allow_secrets':{}}", "toolboxes.box.allow_secrets"},
	};
	struct sandbox_refusal refusal;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(resolve(USUAL, cases[i][0], &refusal), OPERATOR_PATHS_E_REFUSED, "%s",
			cases[i][0]);
		cr_expect_str_eq(refusal.pointer, "/config", "%s", cases[i][0]);
		cr_expect(strstr(refusal.text, cases[i][1]), "%s: %s", cases[i][0], refusal.text);
	}
}

/* Resolve with memory that is short once, everywhere. */
static void expect_no_half(void)
{
	struct sandbox_refusal refusal;

	for (size_t n = 0; n < 2000; n++) {
		int r;

		read_good(USUAL);
		scarce_once_after(n);
		r = operator_paths_resolve(&config, package, &refusal);
		if (!scarce_has_failed()) {
			cr_expect_eq(r, 0);
			cr_expect_gt(n, 100);
			return;
		}
		cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
	}
	cr_expect_fail("memory never was enough");
}

Test(operator_paths, fail_without_memory_and_nothing_else)
{
	expect_no_half();
}

/* The user database has the home folder then. */
Test(operator_paths, fail_without_memory_where_no_variable_names_the_home_folder)
{
	unsetenv("HOME");
	expect_no_half();
}

#define KEEPER "'sandbox':{'write':['$state_folder']}"

static int resolve_keeper(const char *own, struct sandbox_refusal *refusal)
{
	return resolve(PLUGIN("," KEEPER), own, refusal);
}

Test(operator_paths, have_the_state_folder_of_the_toolbox)
{
	struct sandbox_refusal refusal;
	const char *folder;
	struct stat status;

	scratch_set_up();
	folder = scratch_path("state/toolboxd/box");
	setenv("XDG_STATE_HOME", scratch_path("state"), 1);
	cr_assert_eq(resolve_keeper("{'state_folder':'/etc'}", &refusal), 0);
	cr_expect_str_eq(package->state_folder, folder);
	cr_assert_eq(package->sandbox.write.list.n_items, 1);
	cr_expect_str_eq(package->sandbox.write.list.items[0], folder);
	cr_expect_eq(package->sandbox.write.n_operator, 1);
	cr_expect(strstr(package->config, folder), "%s", package->config);
	cr_expect_not(strstr(package->config, "/etc"), "%s", package->config);
	cr_expect_eq(stat(folder, &status), -1, "it is made for a toolbox that is offered");
	cr_assert_eq(state_folder_make(package, &refusal), 0);
	cr_assert_eq(stat(folder, &status), 0);
	cr_expect_eq(status.st_mode & 07777, 0700);
	cr_expect_eq(state_folder_make(package, &refusal), 0, "it is there");
	setenv("STATE_DIRECTORY", scratch_path("given:/other"), 1);
	cr_assert_eq(resolve_keeper(NULL, &refusal), 0);
	cr_expect_str_eq(package->state_folder, scratch_path("given/box"));
	scratch_tear_down();
}

Test(operator_paths, have_a_state_folder_or_the_toolbox_is_refused)
{
	struct sandbox_refusal refusal;

	setenv("XDG_STATE_HOME", "/proc/none", 1);
	cr_assert_eq(resolve_keeper(NULL, &refusal), 0);
	cr_expect_eq(state_folder_make(package, &refusal), STATE_FOLDER_E_REFUSED);
	cr_expect_str_eq(refusal.pointer, "/sandbox/write");
	cr_expect_str_eq(refusal.text,
		"its state folder /proc/none/toolboxd/box cannot be made: No "
		"such file or directory");
	free(package->id);
	package->id = strdup("jobs");
	cr_assert_eq(state_folder_find(package, &refusal), STATE_FOLDER_E_REFUSED);
	cr_expect(strstr(refusal.text, "the folder of our jobs"), "%s", refusal.text);
}

/* Let the configuration have its own list of readable paths. */
static void narrow_read(const char *first, const char *second)
{
	settings.has_sandbox = true;
	cr_assert_eq(sandbox_paths_take(&settings.sandbox.read, strdup(first)), 0);
	cr_assert_eq(sandbox_paths_take(&settings.sandbox.read, strdup(second)), 0);
}

Test(operator_paths, may_be_named_by_the_configuration)
{
	struct sandbox_refusal refusal;
	const struct sandbox_paths *read;

	narrow_read("/own", "$more");
	cr_assert_eq(resolve(USUAL, "{'more':['/c']}", &refusal), 0);
	read = &package->sandbox.read;
	cr_assert_eq(read->list.n_items, 2);
	cr_expect(has(read, "/own") && has(read, "/c"));
	cr_expect_eq(read->n_operator, 1);
	cr_expect_gt(package->sandbox.hidden.list.n_items, 0, "there are fences");
	toolbox_sandbox_deinit(&settings.sandbox);
}

Test(operator_paths, named_by_the_configuration_are_of_a_plugin)
{
	struct sandbox_refusal refusal;

	narrow_read("/own", "$more");
	cr_expect_eq(
		resolve(BOX("{'name':'f'," SQRT "}"), NULL, &refusal), OPERATOR_PATHS_E_REFUSED);
	cr_expect_str_eq(refusal.pointer, "/sandbox");
	cr_expect_str_eq(refusal.text,
		"toolboxes.box.sandbox names the setting $more, which only a toolbox of the kind "
		"\"plugin\" has; expected a path");
	toolbox_sandbox_deinit(&settings.sandbox);
}

/* ── sandbox_max ─────────────────────────────────────────────────────────────────────────────── */

/* Whether sandbox_max refuses paths does not change when memory is short. */
Test(operator_paths, beyond_sandbox_max_are_refused_without_memory_too)
{
	char *folders[] = {strdup(manifest_path("."))};
	struct sandbox_refusal refusal;
	size_t n = 0;

	config.sandbox_max = SANDBOX_COMPUTE;
	config.toolbox_dirs = (struct text_list){.items = folders, .n_items = 1};
	cr_assert_eq(resolve(PLUGIN(",'sandbox':{'write':['.']}"), NULL, &refusal), 0);
	for (; scarce_once_after(n); n++)
		cr_expect(sandbox_max_refuses(&config, package, &refusal), "%zu", n);
	cr_expect_gt(n, 3);
	config.toolbox_dirs.n_items = 0;
	free(folders[0]);
	manifest_write("a/b/file", "");
	cr_assert_eq(resolve(PLUGIN(",'sandbox':{'write':['a','a/b']}"), NULL, &refusal), 0);
	for (n = 0; scarce_once_after(n); n++)
		cr_expect(sandbox_max_refuses(&config, package, &refusal), "%zu", n);
	cr_assert_eq(resolve(PLUGIN(",'sandbox':{'write':['a']}"), NULL, &refusal), 0);
	for (n = 0; scarce_once_after(n); n++) {
		bool is_refused = sandbox_max_refuses(&config, package, &refusal);

		cr_expect_eq(is_refused, scarce_has_failed(), "%zu: %s", n, refusal.text);
		if (is_refused)
			cr_expect_str_eq(refusal.text, strerror(ENOMEM));
	}
}
