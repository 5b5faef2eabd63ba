/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/job_checks.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../scratch.h"
#include "loader/loader.h"
#include "scarce.h"
#include "util/cleanup.h"

/* Loads of given files, and what the manifest and the configuration together do not allow. */

#define WAIT_MS 60000

#define LINE(name) "[{'name':'" name "','command':'true'}]"

static struct loop *loop;
static struct config config;
static struct config_tool tools[1];
static struct config_toolbox said = {.toolbox_id = (char *)"box",
	.is_enabled = true,
	.digest = 1,
	.tools = {.items = tools, .digest = 2}};
static struct loader *loader;
static struct catalogue *catalogue;
static struct buffer reported; /* FILE POINTER: TEXT, a line each */

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	config.start_timeout_ms = WAIT_MS;
	config.sandbox_max = SANDBOX_NONE;
	config.limits = (struct config_limits){.toolboxes = 1000,
		.tools = 10000,
		.host_output_bytes = 8u << 20,
		.stderr_bytes = 8u << 10};
	config.toolboxes = &said;
	config.n_toolboxes = 1;
}

static void tear_down(void)
{
	catalogue_free(catalogue);
	buffer_deinit(&reported);
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(loader_given, .init = set_up, .fini = tear_down, .timeout = 60);

static void take_problem(void *data, const struct diagnostic *problem)
{
	(void)data;
	buffer_printf(&reported, "%s %s: %s\n", strrchr(problem->file, '/') + 1, problem->pointer,
		problem->text);
}

static void take(void *data, struct catalogue *made, struct policy *policy, int error)
{
	(void)data;
	cr_expect_eq(error, 0);
	policy_free(policy);
	catalogue_free(catalogue);
	catalogue = made;
	loop_stop(loop);
}

/* Load the files @first and @second (may be NULL). Fail unless @tools are offered. */
static void expect_offered(const char *first, const char *second, const char *offered)
{
	const char *const files[] = {scratch_path(first), second ? scratch_path(second) : NULL};
	struct loader_options options = {.config = &config, .host_program = TEST_HOST_PROGRAM};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_reset(&reported);
	cr_assert_eq(loader_start_files(loop, &options, files, second ? 2 : 1, take_problem, take,
			     NULL, &loader),
		0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(catalogue);
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++)
		buffer_printf(&text, "%s/%s ", catalogue_tool(catalogue, i)->toolbox->id,
			catalogue_tool(catalogue, i)->name);
	cr_expect_str_eq(buffer_terminate(&text), offered, "%s: %s; %s", first, text.data,
		buffer_terminate(&reported));
	buffer_terminate(&reported);
}

static void write_program(const char *name)
{
	scratch_write(name, "#!/bin/sh\n");
	cr_assert_eq(chmod(scratch_path(name), 0700), 0);
}

Test(loader_given, may_be_a_manifest_a_folder_a_program_or_all_that_is_registered)
{
	scratch_write_json("boxes.d/a.json", LINE("f"));
	scratch_write_json("boxes.d/b.json", LINE("g"));
	write_program("home/bell");
	write_program("home/door.sh");
	scratch_write("home/README", "");
	expect_offered("boxes.d/a.json", NULL, "a/f ");
	expect_offered("boxes.d", NULL, "a/f b/g ");
	expect_offered("boxes.d", "boxes.d/a.json", "a/f b/g ");
	expect_offered("home", NULL, "home/bell home/door ");
	expect_offered("home/bell", "home/door.sh", "home/bell home/door ");
	cr_expect_eq(catalogue_n_failures(catalogue), 0);
}

Test(loader_given, of_a_folder_and_the_manifest_beside_it_are_one)
{
	write_program("home/bell");
	scratch_write_json("home.json", "{'kind':'command','risk':'write'}");
	scratch_write_json("other.json", LINE("f"));
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"home", "home.json", "home/bell"};

		expect_offered(names[i], NULL, "home/bell ");
		cr_expect_eq(catalogue_tool(catalogue, 0)->risk, TOOL_WRITE, "%s", names[i]);
	}
	expect_offered("other.json", "home/", "home/bell other/f ");
}

Test(loader_given, beside_a_folder_is_the_manifest_used_that_is_none_of_programs)
{
	write_program("home/bell");
	scratch_write_json("home.json", LINE("f"));
	expect_offered("home", NULL, "home/f ");
	cr_expect(strstr(reported.data, "home : /tmp/"), "%s", reported.data);
	cr_expect(strstr(reported.data,
			  "/home.json has this name, and is not a manifest of kind \"command\" "
			  "without tools: only it is used\n"),
		"%s", reported.data);
}

Test(loader_given, that_is_not_there_is_a_failure)
{
	expect_offered("nowhere.json", NULL, "");
	cr_expect_eq(catalogue_n_failures(catalogue), 1);
	cr_expect_str_eq(catalogue_failure(catalogue, 0)->toolbox_id, "nowhere");
}

/* ── the manifest and the configuration together ─────────────────────────────────────────────── */

static void expect_refused(const char *manifest, const char *expected)
{
	scratch_write_json("box.json", manifest);
	expect_offered("box.json", NULL, "");
	cr_expect_str_eq(reported.data, expected, "%s", reported.data);
}

Test(loader_given, has_no_second_process_beside_its_concurrent_one)
{
	said.limits.workers = 2;
	expect_refused("{'kind':'plugin','library':'libm.so.6','concurrent':4}",
		"box.json /concurrent: " PACKAGE_ONE_PROCESS "\n");
}

#define REBOOT(more) "{'kind':'bus','tools':[{'name':'t'" more ",'bus':{'topic':'system.reboot'}}]}"

Test(loader_given, has_no_lower_risk_than_its_message_needs)
{
	static const struct {
		enum tool_risk risk;
		bool is_refused;
	} rows[] = {{TOOL_UNRATED, false}, {TOOL_READ, true}, {TOOL_WRITE, true},
		{TOOL_EXECUTE, false}};

	said.tools.n_items = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		tools[0] = (struct config_tool){
			.name = (char *)"t", .is_enabled = true, .risk = rows[i].risk};
		scratch_write_json("box.json", REBOOT(""));
		expect_offered("box.json", NULL, rows[i].is_refused ? "" : "box/t ");
		cr_expect_str_eq(reported.data,
			rows[i].is_refused
				? "box.json : toolboxes.box.tools.t.risk lowers the risk of a tool "
				  "whose message changes the machine, or speaks for a person: it "
				  "must be execute; leave it out\n"
				: "",
			"%s", reported.data);
	}
	tools[0].risk = TOOL_READ;
	scratch_write_json(
		"box.json", "{'kind':'bus','tools':[{'name':'t','bus':{'topic':'a.b'}}]}");
	expect_offered("box.json", NULL, "box/t ");
}

Test(loader_given, starts_no_program_in_a_class_without_programs)
{
	static const char expected[] =
		"box.json /sandbox/class: no program can be started in the sandbox class that the "
		"configuration gives; expected \"command\" or \"none\"\n";

	said.has_sandbox = said.sandbox.has_class = true;
	said.sandbox.class = SANDBOX_NET;
	expect_refused(LINE("f"), expected);
	said.sandbox.class = SANDBOX_COMMAND;
	expect_offered("box.json", NULL, "box/f ");
}

/* A writer of the outer folder may put another folder in its place. */
Test(loader_given, warns_of_writers_of_each_folder_around_a_manifest)
{
	static const char *const folders[] = {"low/box", "low"};
	char expected[512];

	scratch_write_json("low/box/box.json", LINE("f"));
	expect_offered("low/box", NULL, "box/f ");
	cr_expect_str_eq(reported.data, "");
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(chmod(scratch_path(folders[i]), 0770), 0);
		expect_offered("low/box", NULL, "box/f ");
		snprintf(expected, sizeof(expected),
			"%s may be written by other users (mode 0770)\n", scratch_path(folders[i]));
		cr_expect(strstr(reported.data, expected), "%s", reported.data);
		cr_assert_eq(chmod(scratch_path(folders[i]), 0700), 0);
	}
}

/* ── short memory ───────────────────────────────────────────────────────────────────────────── */

static int status;
static bool defers;                      /* no server is asked */
static struct catalogue *offered_before; /* or NULL */

static void take_any(void *data, struct catalogue *made, struct policy *policy, int error)
{
	(void)data;
	policy_free(policy);
	catalogue_free(catalogue);
	catalogue = made;
	status = error;
	loop_stop(loop);
}

/* Load boxes.d once for each failing allocation: the load fails as a whole, or offers
 * @offered. */
static void expect_all_or_a_shortage(const char *offered)
{
	char path[sizeof(scratch_folder) + 16];
	const char *const files[] = {path};
	struct loader_options options = {.config = &config,
		.host_program = TEST_HOST_PROGRAM,
		.defers_servers = defers,
		.previous = offered_before};
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/boxes.d", scratch_folder);
	for (; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		bool has_failed;
		int r;

		catalogue_free(catalogue);
		catalogue = NULL;
		buffer_reset(&reported);
		status = 0;
		r = loader_start_files(
			loop, &options, files, 1, take_problem, take_any, NULL, &loader);
		if (r == 0)
			r = loop_run(loop, WAIT_MS);
		has_failed = scarce_has_failed();
		r = r ? r : status > 0 ? 0 : status;
		if (has_failed && r == -ENOMEM)
			continue;
		cr_assert_eq(r, 0, "%zu: %d", n, r);
		for (size_t i = 0; i < catalogue_n_tools(catalogue); i++)
			buffer_printf(&text, "%s/%s ", catalogue_tool(catalogue, i)->toolbox->id,
				catalogue_tool(catalogue, i)->name);
		cr_expect_str_eq(buffer_terminate(&text), offered, "%zu: %s; %s; %zu failures", n,
			text.data, buffer_terminate(&reported), catalogue_n_failures(catalogue));
	}
	cr_expect_gt(n, 50);
}

Test(loader_given, is_all_loaded_or_memory_is_short)
{
	scratch_write_json("boxes.d/a.json", LINE("f"));
	scratch_write_json("boxes.d/b.json", REBOOT(""));
	write_program("boxes.d/home/bell");
	scratch_write_json("boxes.d/home.json", "{'kind':'command','risk':'write'}");
	expect_all_or_a_shortage("a/f b/t home/bell ");
}

/* A server in a list is not asked here: its tools come later. */
Test(loader_given, has_each_server_of_a_list_or_memory_is_short)
{
	scratch_write_json("boxes.d/list.json", "{'mcpServers':{'one':{'command':'/bin/true'},"
						"'two':{'command':'x','disabled':true}}}");
	scratch_write_json("boxes.d/b.json", REBOOT(""));
	defers = true;
	expect_all_or_a_shortage("b/t ");
	cr_expect_eq(catalogue_n_skipped(catalogue), 2);
}

Test(loader_given, keeps_all_that_goes_on_or_memory_is_short)
{
	scratch_write_json("boxes.d/a.json", LINE("f"));
	scratch_write_json("boxes.d/b.json", REBOOT(""));
	scratch_write_json("boxes.d/c.json", LINE("g"));
	scratch_write_json("boxes.d/d.json", LINE("h"));
	write_program("boxes.d/home/bell");
	expect_offered("boxes.d", NULL, "a/f b/t c/g d/h home/bell ");
	offered_before = take_ptr(catalogue);
	scratch_write_json("boxes.d/a.json", LINE("k"));
	scratch_write("boxes.d/c.json", "[");
	scratch_write_json("boxes.d/d.json", "{'toolbox_id':'d','kind':'nonsense'}");
	expect_all_or_a_shortage("a/k b/t c/g d/h home/bell ");
	cr_expect_eq(catalogue_n_failures(catalogue), 2);
	catalogue_free(offered_before);
}
