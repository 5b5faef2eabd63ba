/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "loader/loader.h"
#include "loader/described.h"
#include "quotes.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/*
 * Manifests that have several toolboxes. In the place of an interpreter runs a shell script that
 * sends the contents of the file `described`, and notes in the file `asked` that it was asked.
 */

#define WAIT_MS 60000

static const char interpreter[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\" || exit 1\n"
	"echo x >>asked\n"
	"size=$(stat -c %s described)\n"
	"byte() { printf '\\\\%03o' $(($1 & 255)); }\n"
	"printf \"$(byte size)$(byte size/256)$(byte size/65536)\\\\000\" >&3\n"
	"printf '\\002\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000' >&3\n"
	"cat described >&3\n"
	"exec cat <&3\n";

#define CLOCK "{'toolbox_id':'clock','tools':[{'name':'now'}]}"
#define MATHS "{'toolbox_id':'maths','tools':[{'name':'add'},{'name':'sub'}]}"

static struct loop *loop;
static struct config config;
static char *folders[1];
static struct config_toolbox said[2];
static struct loader *loader;
static struct catalogue *catalogue;
static struct catalogue *before;
static int status;
static bool defers;
static bool asks_again;
static struct buffer reported; /* problems: FILE: TEXT, a line each */

static void write_file(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(scratch_path(name), "we");

	cr_assert(file);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fchmod(fileno(file), mode), 0);
	fclose(file);
}

/* Let the host send from now on @members of the object, with ' in place of ". */
static void tell(const char *members)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(
		&text, "{'missing':'',%s,'depends':['%s']}", members, scratch_path("packages"));
	buffer_terminate(&text);
	swap_quotes(text.data);
	write_file("described", text.data, 0600);
}

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(mkdir(scratch_path("dir"), 0700), 0);
	cr_assert_eq(mkdir(scratch_path("packages"), 0700), 0);
	folders[0] = strdup(scratch_path("dir"));
	unsetenv("CACHE_DIRECTORY");
	setenv("XDG_CACHE_HOME", scratch_folder, 1);
	config.toolbox_dirs = (struct text_list){.items = folders, .n_items = 1};
	config.start_timeout_ms = WAIT_MS;
	config.sandbox_max = SANDBOX_NONE;
	config.limits = (struct config_limits){.toolboxes = 1000,
		.tools = 10000,
		.host_output_bytes = 8u << 20,
		.stderr_bytes = 8u << 10};
	write_file("python", interpreter, 0755);
	write_file("asked", "", 0600);
	write_file("dir/ovos.json", "{\"kind\":\"python\",\"python\":\"../python\"}", 0600);
}

static void tear_down(void)
{
	catalogue_free(catalogue);
	catalogue_free(before);
	buffer_deinit(&reported);
	loop_free(loop);
	free(folders[0]);
	scratch_tear_down();
}

TestSuite(loader_members, .init = set_up, .fini = tear_down, .timeout = 300);

static void take_problem(void *data, const struct diagnostic *problem)
{
	(void)data;
	buffer_printf(&reported, "%s: %s\n", strrchr(problem->file, '/') + 1, problem->text);
}

static void take(void *data, struct catalogue *made, struct policy *policy, int done)
{
	(void)data;
	policy_free(policy);
	catalogue_free(before);
	before = catalogue;
	catalogue = made;
	status = done;
	loop_stop(loop);
}

static void load(void)
{
	struct loader_options options = {
		.config = &config,
		.host_program = TEST_HOST_PROGRAM,
		.previous = catalogue,
		.generation = 3,
		.defers = defers,
		.asks_again = asks_again,
	};

	buffer_reset(&reported);
	cr_assert_eq(loader_start(loop, &options, take_problem, take, NULL, &loader), 0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(catalogue);
	buffer_terminate(&reported);
}

static void expect_offered(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		buffer_printf(&text, "%s/%s ", tool->toolbox->id, tool->name);
	}
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s; %s", text.data, reported.data);
}

static void expect_asked(unsigned int times)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	cr_assert_eq(file_read(scratch_path("asked"), 1000, &text), 0);
	cr_expect_eq(text.size / 2, times, "asked %zu times, not %u", text.size / 2, times);
}

static struct toolbox *first_toolbox(const struct catalogue *of)
{
	return catalogue_toolbox(of, 0, NULL, NULL);
}

Test(loader_members, offers_each_of_them_under_its_own_id)
{
	tell("'toolboxes':[" MATHS "," CLOCK "],'failed':[]");
	load();
	expect_offered("clock/now maths/add maths/sub ");
	cr_expect_eq(catalogue_find_toolbox(catalogue, "ovos", 4), -1);
	cr_expect_eq(first_toolbox(catalogue)->package,
		catalogue_toolbox(catalogue, 1, NULL, NULL)->package);
	cr_expect_str_eq(reported.data, "");
}

Test(loader_members, names_those_that_have_failed)
{
	tell("'toolboxes':[" CLOCK "],'failed':[{'toolbox_id':'ovos-bad','error':'ImportError: "
	     "no bad'}]");
	load();
	expect_offered("clock/now ");
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(catalogue_failure(catalogue, 0)->toolbox_id, "ovos-bad");
	cr_expect(strstr(catalogue_failure(catalogue, 0)->error, "ImportError: no bad"));
	cr_expect_str_eq(reported.data, "ovos.json: ovos-bad: ImportError: no bad\n");
}

Test(loader_members, tells_which_ids_and_names_cannot_be_offered)
{
	tell("'toolboxes':[{'toolbox_id':'a.b','tools':[{'name':'f'}]},"
	     "{'toolbox_id':'c','tools':[{'name':'f'},{'name':'7'}]}],'failed':[]");
	load();
	expect_offered("c/f ");
	cr_assert_eq(catalogue_n_skipped(catalogue), 2);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->toolbox_id, "a.b");
	cr_expect_null(catalogue_skipped(catalogue, 0)->name);
	cr_expect_str_eq(catalogue_skipped(catalogue, 1)->name, "7");
}

Test(loader_members, asks_once_and_keeps_what_was_told)
{
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	load();
	expect_offered("clock/now ");
	expect_asked(1);
	cr_expect_eq(first_toolbox(before), first_toolbox(catalogue), "with its processes");
	catalogue_free(catalogue);
	catalogue = NULL;
	load();
	expect_offered("clock/now ");
	expect_asked(1);
}

Test(loader_members, asks_again_when_packages_have_changed)
{
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	tell("'toolboxes':[" CLOCK "," MATHS "],'failed':[]");
	load();
	expect_offered("clock/now ");
	cr_assert_eq(mkdir(scratch_path("packages/new.dist-info"), 0700), 0);
	load();
	expect_offered("clock/now maths/add maths/sub ");
	expect_asked(2);
	cr_expect_neq(first_toolbox(before), first_toolbox(catalogue));
}

Test(loader_members, asks_again_when_it_is_told_to)
{
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	asks_again = true;
	load();
	expect_asked(2);
	cr_expect_eq(first_toolbox(before), first_toolbox(catalogue), "nothing has changed");
	tell("'toolboxes':[" MATHS "],'failed':[]");
	load();
	expect_offered("maths/add maths/sub ");
	/* The last answer is the one that is cached. */
	asks_again = false;
	catalogue_free(catalogue);
	catalogue = NULL;
	load();
	expect_offered("maths/add maths/sub ");
	expect_asked(3);
}

Test(loader_members, asks_again_with_another_configuration)
{
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	said[0] = (struct config_toolbox){
		.toolbox_id = "ovos-clock", .is_enabled = true, .config = "{\"zone\":\"UTC\"}"};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	load();
	expect_asked(2);
	cr_expect(strstr(first_toolbox(catalogue)->package->load,
			  "\"config\":{\"ovos-clock\":{\"zone\":\"UTC\"}}"),
		"%s", first_toolbox(catalogue)->package->load);
	cr_expect_neq(first_toolbox(before), first_toolbox(catalogue));
}

Test(loader_members, takes_a_configuration_from_the_first_that_has_it)
{
	static const char expected[] = "\"config\":{\"a\":{\"of\":\"manifest\"},"
				       "\"b\":{\"of\":\"toolboxes\"},\"c\":{\"of\":\"PHAL\"}}";

	write_file("dir/ovos.json",
		"{\"kind\":\"python\",\"python\":\"../python\",\"config\":{\"a\":"
		"{\"of\":\"manifest\"}}}",
		0600);
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	said[0] = (struct config_toolbox){
		.toolbox_id = "a", .is_enabled = true, .config = "{\"of\":\"toolboxes\"}"};
	said[1] = (struct config_toolbox){
		.toolbox_id = "b", .is_enabled = true, .config = "{\"of\":\"toolboxes\"}"};
	config.toolboxes = said;
	config.n_toolboxes = 2;
	config.plugins = "{\"a\":{\"of\":\"PHAL\"},\"b\":{\"of\":\"PHAL\"},\"c\":{\"of\":"
			 "\"PHAL\"}}";
	load();
	cr_expect(strstr(first_toolbox(catalogue)->package->load, expected), "%s",
		first_toolbox(catalogue)->package->load);
}

Test(loader_members, does_not_wait_for_them_when_it_is_to_be_ready)
{
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	defers = true;
	load();
	cr_expect_eq(status, LOADER_DEFERRED);
	expect_offered("");
	expect_asked(0);
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	defers = false;
	load();
	cr_expect_eq(status, 0);
	expect_offered("clock/now ");
	defers = true;
	load();
	cr_expect_eq(status, 0, "known already");
	expect_offered("clock/now ");
}

Test(loader_members, keeps_them_when_the_interpreter_fails)
{
	tell("'toolboxes':[" CLOCK "," MATHS "],'failed':[]");
	load();
	write_file("python", "#!/bin/sh\nexit 3\n", 0755);
	load();
	expect_offered("clock/now maths/add maths/sub ");
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(catalogue_failure(catalogue, 0)->toolbox_id, "ovos");
	cr_expect(strstr(catalogue_failure(catalogue, 0)->error,
			  "describing its tools failed: its host ended with exit status 3"),
		"%s", catalogue_failure(catalogue, 0)->error);
}

Test(loader_members, is_quiet_where_nothing_has_the_plugin_manager)
{
	const char *usual = getenv("PATH");
	cleanup_free char *path = strdup(usual ? usual : "");

	setenv("HOME", "/nowhere", 1);
	setenv("PATH", scratch_path("packages"), 1);
	unsetenv("VIRTUAL_ENV");
	write_file("dir/ovos.json", "{\"kind\":\"python\"}", 0600);
	load();
	setenv("PATH", path, 1);
	expect_offered("");
	cr_expect_str_eq(reported.data, "");
	cr_expect_eq(catalogue_n_failures(catalogue), 0);
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->toolbox_id, "ovos");
	cr_expect(strstr(
		catalogue_skipped(catalogue, 0)->reason, "no Python interpreter can be started"));
}

Test(loader_members, asks_nobody_who_is_not_enabled)
{
	said[0] = (struct config_toolbox){.toolbox_id = "ovos"};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	expect_asked(0);
	expect_offered("");
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->reason, "its toolbox is not enabled");
}

#define POINT(id, tools) "{'toolbox_id':'" id "','entry_point':'" id "-point','tools':" tools "}"

/* A description has no tools of a toolbox left out. */
Test(loader_members, asks_again_for_one_that_is_enabled_later)
{
	said[0] = (struct config_toolbox){.toolbox_id = "maths"};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	tell("'toolboxes':[" POINT("clock", "[{'name':'now'}]") "," POINT(
		"maths", "null") "],'failed':[]");
	load();
	expect_offered("clock/now ");
	load();
	expect_offered("clock/now ");
	expect_asked(1);
	said[0].is_enabled = true;
	tell("'toolboxes':[" POINT("clock", "[{'name':'now'}]") "," POINT(
		"maths", "[{'name':'add'}]") "],'failed':[]");
	load();
	expect_offered("clock/now maths/add ");
	expect_asked(2);
	said[0].is_enabled = false;
	load();
	expect_offered("clock/now ");
	expect_asked(2);
}

/* Fail unless the part @id is skipped without a failure, since the manifest @name has its id. */
static void expect_stepped_back(const char *id, const char *name)
{
	cr_expect_eq(catalogue_n_failures(catalogue), 0);
	cr_assert_eq(catalogue_n_skipped(catalogue), 1);
	cr_expect_str_eq(catalogue_skipped(catalogue, 0)->toolbox_id, id);
	cr_expect(strstr(catalogue_skipped(catalogue, 0)->reason, name), "%s",
		catalogue_skipped(catalogue, 0)->reason);
}

Test(loader_members, steps_back_where_its_id_is_taken)
{
	const struct toolbox *maths;

	write_file("dir/clock.json",
		"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[{\"name\":\"root\","
		"\"native\":{\"symbol\":\"sqrt\",\"parameters\":[{\"name\":\"x\",\"type\":"
		"\"f64\"}],\"returns\":{\"type\":\"f64\"}}}]}",
		0600);
	tell("'toolboxes':[" CLOCK "," MATHS "],'failed':[]");
	load();
	expect_offered("clock/root maths/add maths/sub ");
	expect_stepped_back("clock", "dir/clock.json");
	maths = catalogue_toolbox(catalogue, 1, NULL, NULL);
	/* And offers it once it is free, with the same processes. */
	cr_assert_eq(unlink(scratch_path("dir/clock.json")), 0);
	load();
	expect_offered("clock/now maths/add maths/sub ");
	expect_asked(1);
	cr_expect_eq(catalogue_toolbox(catalogue, 1, NULL, NULL), maths);
	cr_expect_eq(first_toolbox(catalogue)->package, maths->package);
	cr_expect_eq(first_toolbox(catalogue)->tools[0].toolbox, first_toolbox(catalogue));
}

Test(loader_members, steps_back_behind_a_manifest_that_names_it)
{
	write_file("dir/z.json",
		"{\"kind\":\"python\",\"python\":\"../python\",\"plugins\":[\"ovos-clock\"],"
		"\"risk\":\"read\"}",
		0600);
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	expect_offered("clock/now ");
	cr_expect_eq(first_toolbox(catalogue)->package->risk, TOOL_READ);
	expect_stepped_back("clock", "dir/z.json");
	cr_expect_str_eq(reported.data, "");
}

Test(loader_members, does_not_pretend_that_a_part_has_a_sandbox_of_its_own)
{
	said[0] = (struct config_toolbox){
		.toolbox_id = "clock",
		.is_enabled = true,
		.has_sandbox = true,
		.sandbox = {.class = SANDBOX_COMPUTE, .has_class = true},
	};
	said[1] = (struct config_toolbox){
		.toolbox_id = "maths", .is_enabled = true, .has_process = true};
	config.toolboxes = said;
	config.n_toolboxes = 2;
	tell("'toolboxes':[" CLOCK "," MATHS "],'failed':[]");
	load();
	expect_offered("maths/add maths/sub ");
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(catalogue_failure(catalogue, 0)->toolbox_id, "clock");
	cr_expect(strstr(reported.data, "\"sandbox\" of toolboxes.clock in the configuration has"));
	cr_expect(strstr(reported.data, "set it for toolboxes.ovos, or give"));
	cr_expect(strstr(reported.data, "\"limits\" or \"env\" of toolboxes.maths"));
}

Test(loader_members, cannot_be_narrower_than_an_interpreter_needs)
{
	said[0] = (struct config_toolbox){
		.toolbox_id = "ovos",
		.is_enabled = true,
		.digest = 1,
		.sandbox = {.class = SANDBOX_COMPUTE, .has_class = true},
	};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	tell("'toolboxes':[" CLOCK "],'failed':[]");
	load();
	expect_offered("");
	expect_asked(0);
	cr_expect_eq(catalogue_n_failures(catalogue), 1);
}

/* Let the host report that it depends on so many folders. */
static void tell_depends(int n_folders)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(
		&text, "{\"toolboxes\":[],\"failed\":[],\"missing\":\"\",\"depends\":[\"/usr\"");
	for (int i = 1; i < n_folders; i++)
		buffer_append_string(&text, ",\"/usr\"");
	buffer_append_string(&text, "]}");
	write_file("described", buffer_terminate(&text), 0600);
}

Test(loader_members, keeps_nothing_that_depends_on_too_much)
{
	tell_depends(DESCRIBED_DEPENDS_MAX + 1);
	load();
	load();
	expect_asked(2);
	tell_depends(DESCRIBED_DEPENDS_MAX);
	load();
	expect_asked(3);
	load();
	expect_asked(3);
}

Test(loader_members, does_not_believe_what_is_no_table)
{
	write_file("described", "{\"toolboxes\":[]}", 0600);
	load();
	expect_offered("");
	cr_assert_eq(catalogue_n_failures(catalogue), 1);
	cr_expect(strstr(catalogue_failure(catalogue, 0)->error, "describes no array"), "%s",
		catalogue_failure(catalogue, 0)->error);
}

Test(loader_members, have_the_settings_of_their_tools)
{
	static struct config_tool tool = {
		.name = (char *)"add", .is_enabled = true, .risk = TOOL_EXECUTE};
	const struct tool *add;

	tell("'toolboxes':[" MATHS "," CLOCK "],'failed':[]");
	load();
	said[0] = (struct config_toolbox){
		.toolbox_id = (char *)"maths", .is_enabled = true, .tools = {&tool, 1, 7}};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	load();
	expect_asked(1);
	cr_assert_eq(catalogue_find(catalogue, "add", 3, NULL, 0, false, &add), 0);
	cr_expect_eq(add->risk, TOOL_EXECUTE);
	cr_expect(strstr(add->definition, "\"risk\":\"execute\""));
	load();
	cr_expect_eq(first_toolbox(before), first_toolbox(catalogue), "with its processes");
	tool.is_enabled = false;
	load();
	expect_offered("clock/now maths/sub ");
	cr_expect_eq(first_toolbox(before), first_toolbox(catalogue), "with its processes");
}

Test(loader_members, are_not_kept_with_settings_that_are_no_longer_in_force)
{
	static struct config_tool tool = {
		.name = (char *)"add", .is_enabled = true, .risk = TOOL_EXECUTE};

	tell("'toolboxes':[" MATHS "," CLOCK "],'failed':[]");
	load();
	write_file("dir/ovos.json", "{\"kind\":\"python\",", 0600);
	said[0] = (struct config_toolbox){
		.toolbox_id = (char *)"maths", .is_enabled = true, .tools = {&tool, 1, 7}};
	config.toolboxes = said;
	config.n_toolboxes = 1;
	load();
	expect_offered("clock/now ");
}
