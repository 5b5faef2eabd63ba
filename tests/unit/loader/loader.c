/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/loader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../scratch.h"
#include "util/environment.h"
#include "util/file/file.h"

#define WAIT_MS     60000
#define LIBRARY_MAX (64u << 20)

#define BOX(library, tools) "{'kind':'native','library':'" library "',\n'tools':[" tools "]}"
#define TOOL(name, symbol)                                                                         \
	"{'name':'" name "','native':{'symbol':'" symbol                                           \
	"','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}"
#define LIBM(name) BOX("libm.so.6", TOOL(name, "sqrt"))

static struct loop *loop;
static struct config config;
static char *folders[2];
static char *filter[1];
static struct config_toolbox disabled;
static struct loader *loader;
static struct catalogue *catalogue;
static struct buffer described; /* FILE:LINE POINTER: TEXT, a line each */
static const char *host_program = TEST_HOST_PROGRAM;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	folders[0] = strdup(scratch_path("low"));
	folders[1] = strdup(scratch_path("high"));
	config.toolbox_dirs = (struct text_list){.items = folders, .n_items = 2};
	config.start_timeout_ms = WAIT_MS;
	config.limits = (struct config_limits){.toolboxes = 1000,
		.tools = 10000,
		.host_output_bytes = 8u << 20,
		.stderr_bytes = 8u << 10};
}

static void tear_down(void)
{
	catalogue_free(catalogue);
	buffer_deinit(&described);
	loop_free(loop);
	free(folders[0]);
	free(folders[1]);
	scratch_tear_down();
}

TestSuite(loader, .init = set_up, .fini = tear_down, .timeout = 300);

static void tell(void *data, const struct diagnostic *problem)
{
	cr_expect_eq(data, &loop);
	buffer_printf(&described, "%s:%u %s: %s\n", problem->file + strlen(scratch_folder) + 1,
		problem->line, problem->pointer, problem->text);
}

static void take(void *data, struct catalogue *made, struct policy *policy, int error)
{
	policy_free(policy);
	cr_expect_eq(data, &loop);
	cr_expect_eq(error, 0);
	catalogue_free(catalogue);
	catalogue = made;
	loader = NULL;
	loop_stop(loop);
}

static void start(void)
{
	struct loader_options options = {
		.config = &config,
		.host_program = host_program,
		.previous = catalogue,
		.generation = 3,
	};

	buffer_reset(&described);
	cr_assert_eq(loader_start(loop, &options, tell, take, &loop, &loader), 0);
}

static void load(void)
{
	start();
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(catalogue);
	cr_expect_eq(catalogue_generation(catalogue), 3);
	buffer_terminate(&described);
}

static void expect_told(const char *expected)
{
	cr_expect_str_eq(described.data, expected);
}

/* Fail unless the offered tools are @expected, as `toolbox_id/name`, with a space after each. */
static void expect_offered(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		buffer_printf(&text, "%s/%s ", tool->toolbox->id, tool->name);
	}
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

/* The toolboxes that have failed. */
static void expect_failed(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		buffer_printf(&text, "%s ", catalogue_failure(catalogue, i)->toolbox_id);
	cr_expect_str_eq(buffer_terminate(&text), expected);
}

static const struct toolbox *only_toolbox(void)
{
	cr_assert_eq(catalogue_n_toolboxes(catalogue), 1);
	return catalogue_toolbox(catalogue, 0, NULL, NULL);
}

static void copy_library(const char *name, const char *more)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	cr_assert_eq(file_read(TEST_TOOLBOX_DIR "/libtest_misbehave.so", LIBRARY_MAX, &bytes), 0);
	buffer_append_string(&bytes, more);
	scratch_write_bytes("new.so", bytes.data, bytes.size);
	cr_assert_eq(rename(scratch_path("new.so"), scratch_path(name)), 0);
}

Test(loader, makes_an_empty_catalogue_of_nothing)
{
	load();
	expect_offered("");
	expect_failed("");
	expect_told("");
}

Test(loader, offers_what_is_registered)
{
	scratch_write_json("low/b.json", LIBM("root"));
	scratch_write_json(
		"low/a.json", BOX("libm.so.6", TOOL("sine", "sin") "," TOOL("cosine", "cos")));
	load();
	expect_offered("a/sine a/cosine b/root ");
	expect_told("");
}

Test(loader, lets_higher_folders_replace_and_mask)
{
	scratch_write_json("low/a.json", LIBM("low"));
	scratch_write_json("low/b.json", LIBM("masked"));
	scratch_write_json("high/a.json", LIBM("high"));
	cr_assert_eq(symlink("/dev/null", scratch_path("high/b.json")), 0);
	load();
	expect_offered("a/high ");
	expect_failed("");
}

Test(loader, tells_what_is_replaced)
{
	cleanup(buffer_deinit) struct buffer reason = {0};

	scratch_write_json("low/a.json", LIBM("low"));
	scratch_write_json("high/a.json", LIBM("high"));
	load();
	expect_offered("a/high ");
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->toolbox_id, "a");
	cr_expect_null(catalogue_skipped(catalogue, 0)->name);
	buffer_printf(&reason, "%s is replaced by %s", scratch_path("low/a.json"),
		scratch_path("high/a.json"));
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->reason, buffer_terminate(&reason));
}

/* A mask is easily forgotten. */
Test(loader, tells_what_is_masked)
{
	const struct catalogue_skipped *skipped;
	cleanup(buffer_deinit) struct buffer reason = {0};

	scratch_write_json("low/b.json", "{'toolbox_id':'box'}");
	scratch_write("high/README", "");
	cr_assert_eq(symlink("/dev/null", scratch_path("high/b.json")), 0);
	load();
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	skipped = catalogue_skipped(catalogue, 0);
	cr_expect_str_eq(skipped->toolbox_id, "box");
	cr_expect_null(skipped->name);
	buffer_printf(&reason, "%s is masked by %s, a link to /dev/null",
		scratch_path("low/b.json"), scratch_path("high/b.json"));
	cr_expect_str_eq(skipped->reason, buffer_terminate(&reason));
}

Test(loader, tells_where_a_missing_symbol_is_named)
{
	scratch_write_json("low/a.json",
		BOX("libm.so.6", TOOL("sine", "sin") ",\n" TOOL("sign", "no_such_symbol")));
	scratch_write_json("low/b.json", LIBM("root"));
	load();
	expect_offered("b/root ");
	expect_failed("a ");
	cr_expect(strstr(described.data, "low/a.json:3 /tools/1/native/symbol: "), "%s",
		described.data);
	cr_expect(strstr(described.data, "no_such_symbol"), "%s", described.data);
	cr_expect(strstr(catalogue_failure(catalogue, 0)->error,
			  "low/a.json:3 /tools/1/native/symbol: "),
		"%s", catalogue_failure(catalogue, 0)->error);
}

Test(loader, tells_that_a_library_is_not_there)
{
	scratch_write_json("low/a.json", BOX("./nowhere.so", TOOL("f", "f")));
	load();
	expect_offered("");
	expect_failed("a ");
	cr_expect(strstr(described.data, "low/a.json:1 /library: "), "%s", described.data);
	cr_expect(strstr(described.data, "nowhere.so"), "%s", described.data);
}

Test(loader, is_not_held_up_by_a_library_that_never_loads)
{
	config.start_timeout_ms = 500;
	scratch_write_json("low/a.json", BOX(TEST_STUCK_LIBRARY, TOOL("f", "nothing")));
	scratch_write_json("low/b.json", LIBM("root"));
	load();
	expect_offered("b/root ");
	expect_failed("a ");
	cr_expect(strstr(described.data, "in time"), "%s", described.data);
}

Test(loader, tells_that_there_is_no_host_program)
{
	host_program = "/nowhere/toolbox-host";
	scratch_write_json("low/a.json", LIBM("root"));
	load();
	expect_offered("");
	cr_expect(strstr(described.data, "/nowhere/toolbox-host"), "%s", described.data);
}

Test(loader, names_a_broken_manifest_by_the_id_it_claims)
{
	scratch_write_json("low/a.json", "{'toolbox_id':'box','kind':5}");
	scratch_write_json("low/b.json", "{");
	load();
	expect_failed("box b ");
}

Test(loader, gives_an_id_to_the_first_file_by_path)
{
	scratch_write_json("low/b.json",
		"{'toolbox_id':'a','kind':'native','library':'libm.so.6','tools':[" TOOL(
			"two", "sin") "]}");
	scratch_write_json("low/a.json", LIBM("one"));
	scratch_write_json("high/c.json",
		"{'toolbox_id':'a','kind':'native','library':'libm.so.6','tools':[" TOOL(
			"three", "sin") "]}");
	load();
	expect_offered("a/three ");
	expect_failed("a a ");
	cr_expect(
		strstr(described.data, "low/b.json:1 /toolbox_id: the toolbox id 'a' is taken by "),
		"%s", described.data);
}

Test(loader, keeps_the_very_toolbox_that_has_not_changed)
{
	const struct toolbox *first;

	scratch_write_json("low/a.json", LIBM("root"));
	load();
	first = only_toolbox();
	load();
	cr_expect_eq(only_toolbox(), first);
	scratch_write_json("low/a.json", LIBM("root"));
	load();
	cr_expect_eq(only_toolbox(), first, "written again with the same bytes");
	scratch_write_json("low/a.json", LIBM("other"));
	load();
	cr_expect_neq(only_toolbox(), first);
	expect_offered("a/other ");
}

Test(loader, makes_a_new_toolbox_when_its_library_is_replaced)
{
	const struct toolbox *first;

	scratch_write_json(
		"low/a.json", BOX("./lib.so", "{'name':'f','native':{'symbol':'segfault'}}"));
	copy_library("low/lib.so", "");
	load();
	first = only_toolbox();
	copy_library("low/lib.so", "");
	load();
	cr_expect_eq(only_toolbox(), first, "another file of the same bytes");
	copy_library("low/lib.so", "more");
	load();
	cr_expect_neq(only_toolbox(), first);
	expect_offered("a/f ");
}

Test(loader, keeps_the_last_good_version_of_what_fails)
{
	const struct toolbox *first;
	int64_t since_ns;

	scratch_write_json("low/a.json", LIBM("root"));
	load();
	cr_expect_null(catalogue_kept_for(catalogue, 0));
	first = only_toolbox();
	scratch_write_json("low/a.json", "{'toolbox_id':'other'");
	load();
	cr_expect_eq(only_toolbox(), first);
	expect_failed("a ");
	cr_assert_eq(catalogue_kept_for(catalogue, 0), catalogue_failure(catalogue, 0));
	since_ns = catalogue_failure(catalogue, 0)->since_ns;
	cr_expect_gt(since_ns, first->package->loaded_ns);
	load();
	cr_expect_eq(catalogue_failure(catalogue, 0)->since_ns, since_ns, "the same error");
	/* And so on, until it is good again. */
	scratch_write_json("low/a.json", BOX("libm.so.6", TOOL("root", "no_such_symbol")));
	load();
	cr_expect_eq(only_toolbox(), first);
	expect_failed("a ");
	cr_expect_gt(catalogue_failure(catalogue, 0)->since_ns, since_ns, "another error");
	scratch_write_json("low/a.json", LIBM("root"));
	load();
	cr_expect_eq(only_toolbox(), first);
	expect_failed("");
}

static const struct failed *trial(size_t index)
{
	cr_assert_lt(index, catalogue_n_failures(catalogue));
	cr_assert(catalogue_failure(catalogue, index)->failed);
	return catalogue_failure(catalogue, index)->failed;
}

Test(loader, tries_a_refused_manifest_again_when_it_or_the_configuration_changes)
{
	const struct failed *first;

	scratch_write_json("low/a.json",
		"{'kind':'native','toolbox_id':'b','library':'libm.so.6','tools':[{'name':1}]}");
	load();
	first = trial(0);
	expect_failed("b ");
	cr_expect(strstr(described.data, "low/a.json:1 /tools/0/name: "), "%s", described.data);
	load();
	cr_expect_eq(trial(0), first, "not tried");
	expect_failed("b ");
	buffer_append_string(&config.merged, "{}");
	load();
	cr_expect_neq(trial(0), first, "another configuration");
	scratch_write_json("low/a.json", LIBM("root"));
	load();
	expect_offered("a/root ");
	expect_failed("");
	buffer_deinit(&config.merged);
}

Test(loader, tries_a_toolbox_again_when_there_is_room_for_it)
{
	const struct failed *first;

	config.limits.tools = 2;
	scratch_write_json("low/a.json", LIBM("a"));
	scratch_write_json("low/b.json", BOX("libm.so.6", TOOL("b", "sin") "," TOOL("c", "cos")));
	scratch_write_json("low/c.json", LIBM("d"));
	load();
	expect_offered("a/a c/d ");
	expect_failed("b ");
	first = trial(0);
	load();
	expect_offered("a/a c/d ");
	cr_expect_eq(trial(0), first, "not tried");
	cr_expect(strstr(described.data, "low/b.json:0 : there is room for"), "%s", described.data);
	cr_assert_eq(unlink(scratch_path("low/a.json")), 0);
	load();
	expect_offered("b/b b/c ");
	expect_failed("c ");
}

/* Its tools are in its library. */
Test(loader, tries_a_plugin_without_room_each_time)
{
	config.limits.tools = 1;
	scratch_write_json("low/a.json", "{'kind':'plugin','library':'" TEST_TOOLBOX_DIR
					 "/../plugged.d/libtest_plugged.so'}");
	load();
	expect_failed("a ");
	cr_expect(strstr(described.data, "there is room for"), "%s", described.data);
	cr_expect_null(catalogue_failure(catalogue, 0)->failed);
}

/* A program may be there later. */
Test(loader, tries_what_depends_on_more_than_its_bytes_each_time)
{
	scratch_write_json("low/a.json",
		"{'kind':'command','tools':[{'name':'f','command':{'argv':['./nowhere']}}]}");
	scratch_write_json("low/b.json", BOX("./nowhere.so", TOOL("f", "f")));
	load();
	expect_failed("a b ");
	cr_expect_null(catalogue_failure(catalogue, 0)->failed);
	cr_expect_null(catalogue_failure(catalogue, 1)->failed);
}

Test(loader, does_not_keep_what_is_no_longer_registered)
{
	scratch_write_json("low/a.json", LIBM("root"));
	load();
	cr_assert_eq(unlink(scratch_path("low/a.json")), 0);
	load();
	expect_offered("");
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 0);
}

Test(loader, does_not_keep_an_id_that_another_has_taken)
{
	scratch_write_json("low/b.json", LIBM("old"));
	load();
	scratch_write_json("low/b.json", "{");
	scratch_write_json("low/a.json",
		"{'toolbox_id':'b','kind':'native','library':'libm.so.6','tools':[" TOOL(
			"new", "sin") "]}");
	load();
	expect_offered("b/new ");
	expect_failed("b ");
}

Test(loader, has_room_for_so_many_toolboxes_and_tools)
{
	scratch_write_json("low/a.json", LIBM("one"));
	scratch_write_json(
		"low/b.json", BOX("libm.so.6", TOOL("two", "sin") "," TOOL("three", "cos")));
	scratch_write_json("low/c.json", LIBM("four"));
	config.limits.toolboxes = 2;
	load();
	expect_offered("a/one b/two b/three ");
	expect_failed("c ");
	cr_expect(strstr(described.data,
			  "low/c.json:0 : there is room for 2 toolboxes and 10000 tools "
			  "(limits.toolboxes, limits.tools)"),
		"%s", described.data);
	config.limits.toolboxes = 1000;
	config.limits.tools = 2;
	load();
	expect_offered("a/one c/four ");
	expect_failed("b ");
}

/* Its last good version does not come on top of the limit. */
Test(loader, keeps_no_toolbox_beyond_the_limit)
{
	config.limits.toolboxes = 1;
	scratch_write_json("low/b.json", LIBM("two"));
	load();
	expect_offered("b/two ");
	scratch_write_json("low/a.json", LIBM("one"));
	load();
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 1);
	expect_failed("b ");
	scratch_write_json("low/b.json", "{");
	load();
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 1);
}

static void expect_absent(size_t index, const char *id, const char *name, const char *reason)
{
	const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, index);

	cr_expect_str_eq(skipped->toolbox_id, id);
	cr_expect_str_eq(skipped->name, name);
	cr_expect_str_eq(skipped->reason, reason);
}

Test(loader, leaves_out_what_the_filter_does_not_offer)
{
	filter[0] = "a/sine";
	config.tools_enabled = (struct text_list){.items = filter, .n_items = 1};
	scratch_write_json(
		"low/a.json", BOX("libm.so.6", TOOL("sine", "sin") "," TOOL("cosine", "cos")));
	load();
	expect_offered("a/sine ");
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	expect_absent(0, "a", "cosine", "left out by tools_enabled or tools_disabled");
}

/* Expect that the only toolbox is left out as a whole for @reason, and has no tools in memory. */
static void expect_left_out(const char *reason)
{
	expect_offered("");
	expect_failed("");
	cr_expect_eq(only_toolbox()->n_tools, 0);
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_null(catalogue_skipped(catalogue, 0)->name);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->reason, reason);
}

/* A toolbox that no client can call is never started: its library is not loaded, not even to be
 * checked. */
Test(loader, does_not_start_what_is_disabled)
{
	disabled = (struct config_toolbox){.toolbox_id = "a", .is_enabled = false};
	config.toolboxes = &disabled;
	config.n_toolboxes = 1;
	scratch_write_json("low/a.json", BOX("./nowhere.so", TOOL("f", "f")));
	load();
	expect_offered("");
	expect_failed("");
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 1, "status tells that it is disabled");
	expect_left_out("its toolbox is not enabled");
	/* Once it is enabled it is looked at like any other. */
	config.n_toolboxes = 0;
	load();
	expect_failed("a ");
	expect_offered("");
}

/* Write the program @name, whose code is @text. */
static void write_program(const char *name, const char *text)
{
	config.sandbox_max = SANDBOX_NONE;
	scratch_write(name, text);
	cr_assert_eq(chmod(scratch_path(name), 0700), 0);
}

/* The tools of a toolbox that the operator turns off take no memory until it is turned on again. */
Test(loader, keeps_nothing_of_a_toolbox_that_the_operator_turns_off)
{
	const struct package *package;
	char *names[] = {(char *)"a/*"};
	char *why[] = {(char *)"disabled in disabled.json"};

	scratch_write_json("low/a.json", BOX("libm.so.6", TOOL("f", "sqrt")));
	load();
	expect_offered("a/f ");
	config.disabled.names = (struct text_list){names, 1};
	config.disabled.until = (struct text_list){(char *[]){(char *)""}, 1};
	config.disabled_why = (struct text_list){why, 1};
	load();
	expect_left_out("disabled in disabled.json");
	package = only_toolbox()->package;
	load();
	cr_expect_eq(only_toolbox()->package, package, "nothing is read again");
	scratch_write_json("low/a.json", BOX("libm.so.6", TOOL("g", "sqrt")));
	load();
	expect_left_out("disabled in disabled.json");
	config.disabled = (struct config_remembered){0};
	load();
	expect_offered("a/g ");
}

Test(loader, keeps_nothing_of_programs_that_the_operator_turns_off)
{
	char *names[] = {(char *)"progs/*"};
	char *why[] = {(char *)"disabled in disabled.json"};

	write_program("low/progs/a", "#!/bin/sh\n# toolbox: Say nothing.\n");
	load();
	expect_offered("progs/a ");
	config.disabled.names = (struct text_list){names, 1};
	config.disabled.until = (struct text_list){(char *[]){(char *)""}, 1};
	config.disabled_why = (struct text_list){why, 1};
	load();
	expect_left_out("disabled in disabled.json");
	config.disabled = (struct config_remembered){0};
	load();
	expect_offered("progs/a ");
}

#define OFF_BOX                                                                                    \
	"{'kind':'native','enabled':false,'library':'libm.so.6','tools':[" TOOL("f", "sqrt") "]}"

/* Tools of a toolbox that its manifest disables take no memory, until a part of it is enabled. */
Test(loader, frees_the_tools_of_a_toolbox_that_is_off)
{
	char *entries[] = {(char *)"a/f"};

	scratch_write_json("low/a.json", OFF_BOX);
	write_program("low/home/lights.sh", "#!/bin/sh\n");
	scratch_write_json("low/home/home.json", "{'kind':'command','enabled':false}");
	for (int i = 0; i < 2; i++) {
		load();
		expect_offered("");
		expect_failed("");
		cr_assert_eq(catalogue_n_toolboxes(catalogue), 2, "status tells that they are off");
		for (size_t n = 0; n < 2; n++)
			cr_expect_eq(
				catalogue_toolbox(catalogue, n, NULL, NULL)->n_tools, 0, "%zu", n);
		cr_assert_eq(catalogue_n_skipped(catalogue), 2);
		cr_expect_null(catalogue_skipped(catalogue, 0)->name);
		cr_expect_str_eq(catalogue_skipped(catalogue, 1)->reason,
			"disabled by its manifest; toolboxctl enable home");
	}
	config.enabled.names = (struct text_list){entries, 1};
	load();
	expect_offered("a/f ");
	config.enabled.names = (struct text_list){0};
	load();
	expect_offered("");
	cr_expect_eq(catalogue_toolbox(catalogue, 0, NULL, NULL)->n_tools, 0);
}

Test(loader, shows_the_tools_of_a_given_file_although_it_is_off)
{
	const char *const files[] = {scratch_path("low/a.json")};
	struct loader_options options = {
		.config = &config, .host_program = host_program, .generation = 3};

	scratch_write_json("low/a.json", OFF_BOX);
	cr_assert_eq(loader_start_files(loop, &options, files, 1, tell, take, &loop, &loader), 0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	expect_offered("");
	cr_expect_eq(catalogue_toolbox(catalogue, 0, NULL, NULL)->n_tools, 1);
	expect_absent(0, "a", "f", "disabled by its manifest; toolboxctl enable a");
}

Test(loader, offers_the_programs_of_a_folder)
{
	write_program("low/home/lights.sh", "#!/bin/sh\n");
	write_program("low/home/music/next", "#!/bin/sh\n");
	write_program("low/home/bad", "#!/bin/sh\n# risk: none\n");
	load();
	expect_offered("home/lights home/music_next ");
	expect_failed("");
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->name, "bad");
}

Test(loader, keeps_a_folder_that_has_not_changed)
{
	struct toolbox *before;

	write_program("low/home/lights", "#!/bin/sh\n");
	load();
	before = catalogue_toolbox(catalogue, 0, NULL, NULL);
	load();
	cr_expect_eq(catalogue_toolbox(catalogue, 0, NULL, NULL), before);
	write_program("low/home/lights", "#!/bin/sh\n# description: other\n");
	load();
	cr_expect_neq(catalogue_toolbox(catalogue, 0, NULL, NULL), before);
	cr_assert_eq(unlink(scratch_path("low/home/lights")), 0);
	load();
	expect_offered("");
	expect_failed("");
}

/* toolboxctl new, then cp -r. */
Test(loader, takes_the_manifest_in_a_folder_for_the_folder)
{
	const struct toolbox *before;

	scratch_write("low/words/words.c", "");
	write_program("low/words/tests/run.sh", "#!/bin/sh\n");
	copy_library("low/words/lib.so", "");
	cr_assert_eq(chmod(scratch_path("low/words/lib.so"), 0700), 0);
	scratch_write_json("low/words/words.json",
		BOX("./lib.so", "{'name':'behave','native':{'symbol':'behave','parameters':["
				"{'name':'value','type':'i32'}],'returns':{'type':'i32'}}}"));
	load();
	expect_offered("words/behave ");
	expect_failed("");
	before = only_toolbox();
	load();
	cr_expect_eq(only_toolbox(), before);
	scratch_write("low/words/words.json", "{");
	load();
	expect_failed("words ");
	cr_expect(strstr(described.data, "low/words/words.json:1 "), "%s", described.data);
	cr_expect_eq(only_toolbox(), before, "the last good version");
}

Test(loader, says_what_is_wrong_with_the_manifest_in_a_folder)
{
	write_program("low/words/words.sh", "#!/bin/sh\n");
	scratch_write_json("low/words/words.json", "{'kind':'native','tols':[]}");
	write_program("low/broken/greet.sh", "#!/bin/sh\n");
	scratch_write("low/broken/broken.json", "{");
	scratch_write_json("low/twice/a.json", LIBM("root"));
	scratch_write_json("low/twice/b.json", LIBM("root"));
	load();
	expect_offered("");
	expect_failed("broken twice words ");
	cr_expect(strstr(described.data, "low/words/words.json:1 /tols: "), "%s", described.data);
	cr_expect(strstr(described.data, "low/broken/broken.json:1 "), "%s", described.data);
	cr_expect(strstr(described.data, "low/twice/a.json and "), "%s", described.data);
	cr_expect(strstr(described.data, "low/twice/b.json are manifests"), "%s", described.data);
}

Test(loader, takes_the_only_manifest_in_a_folder_whatever_its_name)
{
	scratch_write_json("low/folder/other.json", LIBM("root"));
	scratch_write("low/folder/data.json", "{\"a\":1}");
	load();
	expect_offered("other/root ");
	expect_failed("");
}

Test(loader, leaves_definitions_and_data_in_a_folder_of_programs)
{
	write_program("low/home/home", "#!/bin/sh\n");
	scratch_write_json("low/home/home.json", "{'description':'Goes home.'}");
	write_program("low/data/read", "#!/bin/sh\n");
	scratch_write_json("low/data/data.json", "{'colour':'red'}");
	load();
	expect_offered("data/read home/home ");
	expect_failed("");
}

Test(loader, overlays_a_folder_of_programs_from_within)
{
	write_program("low/home/lights", "#!/bin/sh\n");
	scratch_write_json("low/home/home.json", "{'kind':'command','risk':'read'}");
	load();
	expect_offered("home/lights ");
	expect_failed("");
	cr_expect_eq(only_toolbox()->tools[0].risk, TOOL_READ);
	scratch_write_json("low/home/home.json", "{'kind':'command','rsk':'read'}");
	load();
	expect_failed("home ");
	cr_expect(strstr(described.data, "low/home/home.json: "), "%s", described.data);
}

Test(loader, refuses_a_setting_in_the_sandbox_of_a_folder_of_programs)
{
	static char *read[] = {(char *)"$roots"};
	struct config_toolbox settings = {
		.toolbox_id = (char *)"home", .is_enabled = true, .digest = 7};

	write_program("low/home/lights", "#!/bin/sh\n");
	load();
	expect_offered("home/lights ");
	settings.sandbox.read = (struct sandbox_paths){.list = {read, 1}};
	settings.sandbox.read.is_given = true;
	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	load();
	expect_failed("home ");
	cr_expect(strstr(described.data,
			  "toolboxes.home.sandbox names the setting $roots, which only a toolbox "
			  "of the kind \"plugin\" has; expected a path"),
		"%s", described.data);
	settings.is_enabled = false;
	load();
	expect_offered("");
	expect_failed("");
	config.n_toolboxes = 0;
	load();
	expect_offered("home/lights ");
}

Test(loader, reads_just_the_files_it_is_given)
{
	const char *const files[] = {scratch_path("elsewhere/x.json")};
	struct loader_options options = {
		.config = &config, .host_program = host_program, .generation = 3};

	scratch_write_json("low/a.json", LIBM("root"));
	scratch_write_json("elsewhere/x.json", LIBM("root"));
	cr_assert_eq(loader_start_files(loop, &options, files, 1, tell, take, &loop, &loader), 0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	expect_offered("x/root ");
}

Test(loader, reads_a_file_that_is_given_twice_once)
{
	const char *const files[] = {scratch_path("low/a.json"), scratch_path("low/a.json")};
	struct loader_options options = {
		.config = &config, .host_program = host_program, .generation = 3};

	scratch_write_json("low/a.json", LIBM("root"));
	cr_assert_eq(loader_start_files(loop, &options, files, 2, tell, take, &loop, &loader), 0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	expect_offered("a/root ");
	expect_failed("");
}

Test(loader, can_be_stopped_at_any_time)
{
	scratch_write_json("low/a.json", LIBM("root"));
	start();
	loader_free(loader);
	start();
	/* One turn: it has begun. A library is checked by a process, which takes longer. */
	loop_run(loop, 0);
	loader_free(loader);
	cr_expect_eq(loop_run(loop, 10), -ETIME);
	cr_expect_null(catalogue);
	loader_free(NULL);
}

#define SANDBOX(class)                                                                             \
	"{'kind':'native','library':'libm.so.6','sandbox':" class ",\n'tools':[" TOOL(             \
		"a", "sqrt") "]}"

/* At the first load as at each later one. */
Test(loader, judges_no_sandbox_of_a_toolbox_that_is_off)
{
	char *names[] = {(char *)"box/*"};
	char *why[] = {(char *)"disabled in disabled.json"};

	config.sandbox_max = SANDBOX_COMPUTE;
	config.disabled.names = (struct text_list){names, 1};
	config.disabled.until = (struct text_list){(char *[]){(char *)""}, 1};
	config.disabled_why = (struct text_list){why, 1};
	scratch_write_json("low/box.json", SANDBOX("{'class':'none'}"));
	for (int i = 0; i < 3; i++) {
		load();
		expect_left_out("disabled in disabled.json");
	}
}

Test(loader, takes_the_class_of_the_configuration_before_that_of_the_manifest)
{
	char id[] = "box";
	struct config_toolbox settings = {.toolbox_id = id, .is_enabled = true};

	config.sandbox_max = SANDBOX_NONE;
	scratch_write_json("low/box.json", SANDBOX("{'class':'none','read':['/usr']}"));
	load();
	cr_expect_eq(only_toolbox()->package->sandbox.class, SANDBOX_NONE);
	settings.sandbox = (struct toolbox_sandbox){.class = SANDBOX_NET, .has_class = true};
	settings.digest = 7;
	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	load();
	cr_expect_eq(only_toolbox()->package->sandbox.class, SANDBOX_NET, "it counts as changed");
	cr_expect_eq(only_toolbox()->package->sandbox.read.list.n_items, 1, "member by member");
	cr_expect(strstr(only_toolbox()->package->load, "\"class\":\"net\""));
	config.n_toolboxes = 0;
	load();
	cr_expect_eq(only_toolbox()->package->sandbox.class, SANDBOX_NONE, "and back");
}

Test(loader, refuses_unix_sockets_where_the_widest_class_is_net)
{
	config.sandbox_max = SANDBOX_NET;
	scratch_write_json("low/box.json", SANDBOX("{'class':'net','unix':true}"));
	load();
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 0);
	scratch_write_json("low/box.json", SANDBOX("{'class':'compute','unix':true}"));
	load();
	cr_expect_eq(catalogue_n_toolboxes(catalogue), 0);
	cr_expect(strstr(described.data, "\"compute\" with unix sockets is wider than \"net\""));
	scratch_write_json("low/box.json", SANDBOX("{'class':'net','unix':false}"));
	load();
	cr_expect(!only_toolbox()->package->sandbox.has_unix);
	config.sandbox_max = SANDBOX_COMMAND;
	scratch_write_json("low/box.json", SANDBOX("{'class':'net','unix':true}"));
	load();
	cr_expect(only_toolbox()->package->sandbox.has_unix);
}

Test(loader, takes_limits_and_environment_of_the_configuration)
{
	static char environment[] = "A=b\0";
	char id[] = "box";
	struct config_toolbox settings = {.toolbox_id = id, .is_enabled = true, .digest = 7};

	scratch_write_json("low/box.json",
		"{'kind':'native','library':'libm.so.6','limits':{'workers':2,'queue':5,"
		"'idle_s':9,'prestart':true},'tools':[" TOOL("a", "sqrt") "]}");
	/* So much memory that a host lives under valgrind, too. */
	settings.limits = (struct toolbox_limits){.timeout_ms = 70,
		.max_ms = 80,
		.workers = 3,
		.memory_mb = 1024,
		.has_idle_s = true};
	settings.has_prestart = true;
	settings.environment = environment;
	config.toolboxes = &settings;
	config.n_toolboxes = 1;
	load();
	cr_expect_eq(only_toolbox()->package->limits.timeout_ms, 70);
	cr_expect_eq(only_toolbox()->package->limits.max_ms, 80);
	cr_expect_eq(only_toolbox()->package->limits.workers, 3);
	cr_expect_eq(only_toolbox()->package->limits.queue, 5, "the manifest's");
	cr_expect(only_toolbox()->package->limits.has_idle_s &&
		  only_toolbox()->package->limits.idle_s == 0);
	cr_expect_not(only_toolbox()->package->limits.prestart);
	cr_expect(strstr(only_toolbox()->package->load, "\"memory_mb\":1024"));
	cr_expect_eq(environment_compare(only_toolbox()->package->environment, environment), 0);
	config.n_toolboxes = 0;
	load();
	cr_expect_eq(only_toolbox()->package->limits.workers, 2, "and back");
	cr_expect_null(only_toolbox()->package->environment);
}

Test(loader, refuses_a_class_that_is_wider_than_the_widest)
{
	config.sandbox_max = SANDBOX_COMMAND;
	scratch_write_json("low/box.json", SANDBOX("{'class':'command'}"));
	load();
	expect_offered("box/a ");
	config.sandbox_max = SANDBOX_COMPUTE;
	load();
	expect_offered("");
	expect_failed("box ");
	expect_told("low/box.json:1 /sandbox/class: the sandbox class \"command\" is wider than "
		    "\"compute\", the widest that toolboxd.sandbox_max of the configuration "
		    "allows\n");
	config.sandbox_max = SANDBOX_COMMAND;
	load();
	expect_offered("box/a ");
}

/* Load a manifest at @name, with the members @sandbox, that is refused with @words (NULL:
 * offered). */
static void expect_bounded(const char *name, const char *sandbox, const char *words)
{
	char text[1024];

	snprintf(text, sizeof(text), SANDBOX("{%s}"), sandbox);
	scratch_write_json(name, text);
	/* No previous good version is kept. */
	catalogue_free(catalogue);
	catalogue = NULL;
	load();
	expect_offered(words ? "" : "box/a ");
	cr_expect(!words || strstr(described.data, words), "%s: %s", sandbox, described.data);
}

static const char outside[] = "is outside of the toolbox's own folder and of its state folder; "
			      "toolboxd.sandbox_max of the configuration is";

Test(loader, bounds_the_paths_of_a_sandbox_in_a_registration_folder)
{
	static const char name[] = "low/box.json";

	scratch_write_json("low/data.txt", "");
	scratch_write_json("state/toolboxd/box/file.txt", "");
	scratch_write_json("state/toolboxd/other/file.txt", "");
	setenv("XDG_STATE_HOME", scratch_path("state"), 1);
	config.sandbox_max = SANDBOX_COMPUTE;
	expect_bounded(name, "'class':'compute','read':['data.txt']", NULL);
	expect_bounded(name, "'write':['../state/toolboxd/box']", NULL);
	expect_bounded(name, "'write':['/']", "low/box.json:1 /sandbox/write/0: / is outside");
	expect_bounded(name, "'read':['.','/etc/passwd']", "/read/1: /etc/passwd is outside");
	expect_bounded(name, "'write':['.']", outside);
	expect_bounded(name, "'write':['data.txt']", outside);
	expect_bounded(name, "'read':['../state/toolboxd/other']", outside);
	config.sandbox_max = SANDBOX_COMMAND;
	expect_bounded(name, "'write':['/']", outside);
	expect_bounded(name, "'class':'command','write':['/tmp']", NULL);
	config.sandbox_max = SANDBOX_NONE;
	expect_bounded(name, "'read':['/etc/passwd']", NULL);
}

Test(loader, bounds_the_paths_of_a_sandbox_to_the_real_folder_of_its_manifest)
{
	static const char name[] = "project/box.json";

	scratch_write_json("project/data/file.txt", "");
	scratch_write_json("projects/file.txt", "");
	cr_assert_eq(symlink("/usr", scratch_path("project/link")), 0);
	scratch_write_json("low/other.txt", "");
	cr_assert_eq(symlink("../project/box.json", scratch_path("low/box.json")), 0);
	config.sandbox_max = SANDBOX_COMPUTE;
	expect_bounded(name, "'read':['.'],'write':['data']", NULL);
	expect_bounded(name, "'read':['../low/../project/./data/file.txt']", NULL);
	expect_bounded(name, "'read':['data/../../projects/file.txt']", outside);
	expect_bounded(name, "'read':['link']", outside);
	expect_bounded(name, "'read':['link/lib']", outside);
	expect_bounded(name, "'read':['none']", "does not exist; toolboxd.sandbox_max");
	expect_bounded(name, "'write':['.'],'read':['data']", "is inside of another path that may");
}

Test(loader, bounds_the_paths_of_a_sandbox_that_was_offered_before)
{
	config.sandbox_max = SANDBOX_NONE;
	expect_bounded("low/box.json", "'read':['/etc/passwd']", NULL);
	config.sandbox_max = SANDBOX_NET;
	load();
	expect_offered("");
	expect_failed("box ");
	config.sandbox_max = SANDBOX_NONE;
	load();
	expect_offered("box/a ");
}

/* Load again, and expect a report with these words; NULL: no warning. */
static void expect_exposed(const char *words)
{
	load();
	if (!words)
		cr_expect(!strstr(described.data ? described.data : "", "other user") &&
				  !strstr(described.data ? described.data : "", "another user"),
			"%s", described.data);
	else
		cr_expect(strstr(described.data, words), "%s: %s", words, described.data);
	expect_offered("box/a ");
}

Test(loader, warns_once_of_files_that_others_may_write)
{
	char *manifest = scratch_path("low/box.json");

	config.sandbox_max = SANDBOX_NONE;
	scratch_write_json("low/box.json", SANDBOX("{'class':'compute'}"));
	expect_exposed(NULL);
	cr_assert_eq(chmod(manifest, 0620), 0);
	expect_exposed("box.json may be written by other users (mode 0620)");
	expect_exposed(NULL);
	cr_assert_eq(chmod(manifest, 0602), 0);
	expect_exposed("box.json may be written by other users (mode 0602)");
	cr_assert_eq(chmod(manifest, 0644), 0);
	expect_exposed(NULL);
	cr_assert_eq(chmod(scratch_path("low"), 0777), 0);
	expect_exposed("low may be written by other users (mode 0777)");
	if (geteuid() != 0)
		return;
	cr_assert_eq(chmod(scratch_path("low"), 0700), 0);
	cr_assert_eq(chown(manifest, 65534, 0), 0);
	expect_exposed("box.json belongs to another user (uid 65534)");
}

Test(loader, warns_of_a_folder_for_each_manifest_in_it)
{
	static const char words[] = "low may be written by other users (mode 0777)";
	const char *found;

	config.sandbox_max = SANDBOX_NONE;
	scratch_write_json("low/box.json", SANDBOX("{'class':'compute'}"));
	scratch_write_json("low/more.json", BOX("libm.so.6", TOOL("b", "sqrt")));
	cr_assert_eq(chmod(scratch_path("low"), 0777), 0);
	load();
	expect_offered("box/a more/b ");
	found = strstr(described.data, words);
	cr_assert(found, "%s", described.data);
	cr_expect(strstr(found + 1, words), "%s", described.data);
}

Test(loader, warns_of_the_target_of_a_link_that_others_may_write)
{
	config.sandbox_max = SANDBOX_NONE;
	scratch_write_json("target/box.json", SANDBOX("{'class':'compute'}"));
	scratch_write_json("low/box.json", "");
	cr_assert_eq(unlink(scratch_path("low/box.json")), 0);
	cr_assert_eq(symlink(scratch_path("target/box.json"), scratch_path("low/box.json")), 0);
	expect_exposed(NULL);
	cr_assert_eq(chmod(scratch_path("target"), 0777), 0);
	expect_exposed("target may be written by other users (mode 0777)");
}

Test(loader, warns_of_programs_and_libraries_that_others_may_write)
{
	config.sandbox_max = SANDBOX_NONE;
	scratch_write("low/box/a", "#!/bin/sh\n");
	cr_assert_eq(chmod(scratch_path("low/box/a"), 0777), 0);
	expect_exposed("low/box/a may be written by other users (mode 0777)");
	expect_exposed(NULL);
	cr_assert_eq(unlink(scratch_path("low/box/a")), 0);
	cr_assert_eq(rmdir(scratch_path("low/box")), 0);
	scratch_write("lib.so", "");
	cr_assert_eq(chmod(scratch_path("lib.so"), 0666), 0);
	scratch_write_json("low/box.json",
		"{'kind':'native','library':'../lib.so','tools':[" TOOL("a", "sqrt") "]}");
	load();
	cr_expect(strstr(described.data, "lib.so may be written by other users (mode 0666)"), "%s",
		described.data);
}

Test(loader, warns_once_of_a_program_of_several_tools)
{
	static const char words[] = "/run may be written by other users (mode 0777)";
	const char *found;

	config.sandbox_max = SANDBOX_NONE;
	scratch_write("low/safe", "#!/bin/sh\n");
	scratch_write("low/run", "#!/bin/sh\n");
	cr_assert_eq(chmod(scratch_path("low/safe"), 0755), 0);
	cr_assert_eq(chmod(scratch_path("low/run"), 0777), 0);
	scratch_write_json("low/box.json", "{'kind':'command','tools':["
					   "{'name':'a','command':{'argv':['./safe']}},"
					   "{'name':'b','command':{'argv':['./run']}},"
					   "{'name':'c','command':{'argv':['./run']}}]}");
	load();
	expect_offered("box/a box/b box/c ");
	found = strstr(described.data, words);
	cr_assert(found, "%s", described.data);
	cr_expect(!strstr(found + 1, words), "%s", described.data);
}

Test(loader, refuses_a_sandbox_with_a_path_that_is_not_there)
{
	scratch_write_json("low/box.json", SANDBOX("{'class':'compute','read':['nowhere']}"));
	load();
	if (strstr(described.data ? described.data : "", "nowhere"))
		expect_failed("box ");
	else
		cr_expect(only_toolbox()->package->not_enforced,
			"the host did not look, and said so");
}

Test(loader, checks_toolboxes_with_different_sandboxes_apart)
{
	config.sandbox_max = SANDBOX_NONE;
	scratch_write_json("low/one.json", SANDBOX("{'class':'none'}"));
	scratch_write_json(
		"low/two.json", SANDBOX("{'class':'compute','read':['/nowhere/at/all']}"));
	scratch_write_json("low/three.json", SANDBOX("{'class':'none'}"));
	load();
	cr_expect(strstr(catalogue_toolbox(catalogue, 0, NULL, NULL)->id, "one"));
	cr_expect_null(catalogue_toolbox(catalogue, 0, NULL, NULL)->package->not_enforced);
}

Test(loader, tells_whether_a_library_is_sealed)
{
	scratch_write_json(
		"low/box.json", BOX("./mine.so", "{'name':'a','native':{'symbol':'behave'}}"));
	copy_library("low/mine.so", "");
	load();
	cr_expect(only_toolbox()->package->library.copy);
	copy_library("low/mine.so", "$ORIGIN");
	load();
	cr_expect_null(only_toolbox()->package->library.copy, "a copy has another place");
	expect_offered("box/a ");
}

Test(loader, does_not_keep_a_last_good_version_with_settings_that_are_no_longer_in_force)
{
	static struct config_tool tool = {
		.name = (char *)"root", .is_enabled = true, .risk = TOOL_EXECUTE};
	static struct config_toolbox said = {
		.toolbox_id = (char *)"m", .is_enabled = true, .tools = {&tool, 1, 9}};

	scratch_write_json("low/m.json", LIBM("root"));
	load();
	expect_offered("m/root ");
	config.toolboxes = &said;
	config.n_toolboxes = 1;
	load();
	expect_offered("m/root ");
	cr_expect_eq(only_toolbox()->tools[0].risk, TOOL_EXECUTE);
	scratch_write_json("low/m.json", "{");
	load();
	expect_offered("m/root ");
	said.tools.digest = 11;
	load();
	expect_offered("");
	expect_failed("m ");
	cr_expect(strstr(described.data, "the last good version of 'm' does not go on: its "
					 "configuration is another one now\n"),
		"%s", described.data);
	scratch_write_json("low/m.json", LIBM("root"));
	load();
	expect_offered("m/root ");
	scratch_write_json("low/m.json", "{");
	load();
	expect_offered("m/root ");
	said.digest = 3;
	load();
	expect_offered("");
}

/* A fence may close what the version could read. */
Test(loader, does_not_keep_a_last_good_version_with_other_fences)
{
	scratch_write_json("low/m.json", LIBM("root"));
	load();
	only_toolbox()->package->fences = 1;
	scratch_write_json("low/m.json", "{");
	load();
	expect_offered("");
	expect_failed("m ");
}
