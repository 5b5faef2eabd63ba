/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/server_list.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "loader/asking.h"
#include "loader/loader.h"
#include "quotes.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/*
 * Servers, alone and in lists. In the place of the host runs a shell script: it notes in the file
 * `asked` for which server, prints ID.log, keeps its LOAD frame in ID.load if this is there, and
 * sends ID.told as the tools of the server, or ID.refused as a refusal. Without both it waits for
 * ever.
 */

#define WAIT_MS 60000

static const char host[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\" || exit 1\n"
	"echo \"$1\" >>asked\n"
	"test -e \"$1.log\" && cat \"$1.log\"\n"
	"take() { dd bs=$1 count=1 iflag=fullblock <&3 2>/dev/null; }\n"
	"test -e \"$1.load\" && size=$(take 4 | od -An -tu4) && take 12 >load &&\n"
	"take $((size)) >\"$1.load\"\n"
	"told=$1.told kind=002\n"
	"test -e \"$told\" || told=$1.refused kind=003\n"
	"test -e \"$1.dies\" && exit 7\n"
	"test -e \"$told\" || exec cat <&3 >/dev/null\n"
	"size=$(stat -c %s \"$told\")\n"
	"byte() { printf '\\\\%03o' $(($1 & 255)); }\n"
	"printf \"$(byte size)$(byte size/256)$(byte size/65536)\\\\000\" >&3\n"
	"printf "
	"\"\\\\$"
	"kind\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\" "
	">&3\n"
	"cat \"$told\" >&3\n"
	"exec cat <&3 >/dev/null\n";

#define LISTED(name) "{'name':'" name "','inputSchema':{'type':'object'}}"
#define SERVER(name) "'" name "':{'command':'/bin/true'}"

static struct loop *loop;
static struct config config;
static char *folders[1];
static struct config_toolbox said;
static struct loader *loader;
static struct catalogue *catalogue;
static struct loader_options more; /* the choices of the next loads */
static struct asking *asking;
static unsigned int n_arrived;
static int status;
static struct buffer reported; /* FILE POINTER: TEXT, a line each */

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
	folders[0] = strdup(scratch_path("dir"));
	unsetenv("CACHE_DIRECTORY");
	setenv("XDG_CACHE_HOME", scratch_folder, 1);
	setenv("STATE_DIRECTORY", scratch_path("state"), 1);
	cr_assert_eq(mkdir(scratch_path("state"), 0700), 0);
	config.toolbox_dirs = (struct text_list){.items = folders, .n_items = 1};
	config.start_timeout_ms = WAIT_MS;
	config.sandbox_max = SANDBOX_NONE;
	config.limits = (struct config_limits){.toolboxes = 1000,
		.tools = 10000,
		.host_output_bytes = 8u << 20,
		.stderr_bytes = 8u << 10};
	scratch_write("host", host);
	cr_assert_eq(chmod(scratch_path("host"), 0700), 0);
	scratch_write("asked", "");
}

static void tear_down(void)
{
	asking_free(asking);
	catalogue_free(catalogue);
	buffer_deinit(&reported);
	loop_free(loop);
	free(folders[0]);
	scratch_tear_down();
}

TestSuite(loader_servers, .init = set_up, .fini = tear_down, .timeout = 60);

static void take_problem(void *data, const struct diagnostic *problem)
{
	(void)data;
	buffer_printf(&reported, "%s %s: %s\n", strrchr(problem->file, '/') + 1, problem->pointer,
		problem->text);
}

static void take(void *data, struct catalogue *made, struct policy *policy, int done)
{
	(void)data;
	policy_free(policy);
	catalogue_free(catalogue);
	catalogue = made;
	status = done;
	loop_stop(loop);
}

static void load(void)
{
	struct loader_options options = more;
	char path[sizeof(scratch_folder) + 8];

	snprintf(path, sizeof(path), "%s/host", scratch_folder);
	options.config = &config;
	options.host_program = path;
	options.previous = catalogue;
	options.asking = asking;
	buffer_reset(&reported);
	scratch_write("asked", "");
	cr_assert_eq(loader_start(loop, &options, take_problem, take, NULL, &loader), 0);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(catalogue);
	buffer_terminate(&reported);
}

/* Fail unless these tools are offered, and these servers were asked, in any order. */
static void expect_offered(const char *tools, const char *asked)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer ids = {0};

	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		buffer_printf(&text, "%s/%s ", tool->toolbox->id, tool->name);
	}
	cr_expect_str_eq(buffer_terminate(&text), tools, "%s; %s", text.data, reported.data);
	cr_assert_eq(file_read(scratch_path("asked"), 1000, &ids), 0);
	cr_expect_eq(ids.size, strlen(asked), "asked: %s", buffer_terminate(&ids));
	for (const char *id = asked; *id; id = strchr(id, '\n') + 1)
		cr_expect(memmem(ids.data, ids.size, id, strcspn(id, "\n") + 1), "%s", id);
}

static void expect_reported(const char *expected)
{
	cr_expect_str_eq(reported.data, expected, "%s", reported.data);
}

/* Fail unless the toolbox @id is left out for @reason. */
static void expect_skipped(const char *id, const char *reason)
{
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++)
		if (strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0) {
			cr_expect_str_eq(catalogue_skipped(catalogue, i)->reason, reason);
			return;
		}
	cr_expect_fail("%s is not left out; %s", id, reported.data);
}

static const struct package *package_of(const char *id)
{
	long at = catalogue_find_toolbox(catalogue, id, strlen(id));

	cr_assert_geq(at, 0, "%s; %s", id, reported.data);
	return catalogue_toolbox(catalogue, (size_t)at, NULL, NULL)->package;
}

static void write_list(const char *servers)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "{'mcpServers':{%s}}", servers);
	scratch_write_json("dir/list.json", buffer_terminate(&text));
}

/* Two servers in one file, with a tool each. */
static void load_two(void)
{
	scratch_write_json("one.told", "{'missing':'','list':[" LISTED("add") "]}");
	scratch_write_json("two.told", "{'missing':'','list':[" LISTED("sub") "]}");
	write_list(SERVER("one") "," SERVER("two"));
	load();
	expect_offered("one/add two/sub ", "one\ntwo\n");
	expect_reported("");
	cr_expect_eq(status, 0);
}

/* ── lists ───────────────────────────────────────────────────────────────────────────────────── */

Test(loader_servers, of_a_list_are_toolboxes_of_their_own)
{
	load_two();
	cr_expect_neq(package_of("one"), package_of("two"));
	cr_expect(package_of("one")->is_entry);
	cr_expect_str_eq(strrchr(package_of("one")->file, '/'), "/list.json");
	cr_expect_eq(package_of("one")->definition.n_items, 1);
}

Test(loader_servers, of_a_list_cost_nobody_else_a_mistake)
{
	scratch_write_json("one.told", "{'list':[" LISTED("add") "]}");
	write_list(SERVER("one") ",'of/f':{'command':'x','disabled':true},'ba/d':{},'three':"
				 "{'command':'x','cwd':5}");
	load();
	expect_offered("one/add ", "one\n");
	expect_skipped("of_f", "it is disabled in its file");
	expect_reported("list.json /mcpServers/ba~1d: the server 'ba/d' must have either a "
			"\"command\" or a \"url\"\n"
			"list.json /mcpServers/three: the server 'three' has a \"cwd\" that is no "
			"string\n");
}

Test(loader_servers, of_a_list_are_kept_and_not_asked_while_nothing_changes)
{
	const struct package *one;
	const struct package *two;

	load_two();
	one = package_of("one");
	two = package_of("two");
	load();
	expect_offered("one/add two/sub ", "");
	cr_expect_eq(package_of("one"), one);
	write_list(SERVER("one") ",'two':{'command':'/bin/true','args':['x']}");
	load();
	expect_offered("one/add two/sub ", "two\n");
	cr_expect_eq(package_of("one"), one, "the change is none of its");
	cr_expect_neq(package_of("two"), two);
	write_list(SERVER("two"));
	load();
	expect_offered("two/sub ", "");
}

Test(loader_servers, of_a_list_that_is_broken_go_on)
{
	const struct package *one;

	load_two();
	one = package_of("one");
	scratch_write("dir/list.json", "{\"mcpServers\":{");
	load();
	expect_offered("one/add two/sub ", "");
	cr_expect_eq(package_of("one"), one);
	cr_expect_eq(catalogue_n_failures(catalogue), 1);
	said = (struct config_toolbox){.toolbox_id = (char *)"one"};
	config.toolboxes = &said;
	config.n_toolboxes = 1;
	load();
	expect_offered("two/sub ", "");
}

Test(loader_servers, of_two_files_with_one_id_are_of_the_first)
{
	load_two();
	scratch_write_json("dir/a.json",
		"{'toolbox_id':'two','kind':'command','tools':[{'name':'f',"
		"'command':{'shell':'true'}}]}");
	load();
	expect_offered("one/add two/f ", "");
	cr_expect(strstr(reported.data,
			  "list.json /mcpServers/two: the toolbox id 'two' is taken by "),
		"%s", reported.data);
	scratch_write("dir/list.json", "{\"mcpServers\":{");
	load();
	expect_offered("one/add two/f ", "");
}

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

Test(loader_servers, are_asked_again_and_go_on_with_the_same_list)
{
	const struct package *one;

	load_two();
	one = package_of("one");
	scratch_write_json("two.told", "{'list':[" LISTED("mul") "," LISTED("sub") "]}");
	more.asks_servers = true;
	load();
	expect_offered("one/add two/mul two/sub ", "one\ntwo\n");
	cr_expect_eq(package_of("one"), one);
	more.asks_servers = false;
	load();
	expect_offered("one/add two/mul two/sub ", "");
}

Test(loader_servers, with_a_changed_list_are_asked_by_a_load_that_can_wait)
{
	load_two();
	atomic_store(&((struct package *)package_of("two"))->mcp.is_stale, true);
	scratch_write_json("two.told", "{'list':[" LISTED("mul") "]}");
	more.defers_servers = true;
	load();
	expect_offered("one/add two/sub ", "");
	cr_expect_eq(status, LOADER_UNLISTED);
	more.defers_servers = false;
	load();
	expect_offered("one/add two/mul ", "two\n");
	cr_expect_eq(status, 0);
	cr_expect_not(atomic_load(&package_of("two")->mcp.is_stale));
}

Test(loader_servers, that_are_new_come_later_where_a_load_does_not_wait)
{
	scratch_write_json("one.told", "{'list':[" LISTED("add") "]}");
	write_list(SERVER("one"));
	more.defers_servers = true;
	load();
	expect_offered("", "");
	cr_expect_eq(status, LOADER_DEFERRED);
	expect_skipped("one", "its server is being asked for its tools");
	more.defers_servers = false;
	load();
	expect_offered("one/add ", "one\n");
	cr_expect_eq(status, 0);
}

Test(loader_servers, out_of_reach_for_too_long_are_offered_after_a_new_list)
{
	char *ids[] = {(char *)"two"};
	const struct text_list away = {.items = ids, .n_items = 1};

	load_two();
	more.away = &away;
	more.defers_servers = true;
	load();
	expect_offered("one/add ", "");
	expect_skipped("two",
		"its server could not be reached for too long, and is asked again by itself");
	more.defers_servers = false;
	load();
	expect_offered("one/add two/sub ", "two\n");
}

Test(loader_servers, are_asked_in_the_era_that_they_were_known_by)
{
	for (int is_legacy = 0; is_legacy < 2; is_legacy++) {
		cleanup(buffer_deinit) struct buffer frame = {0};
		bool is_told;

		scratch_write_json(
			"one.told", is_legacy ? "{'list':[" LISTED("add") "],'legacy':true}"
					      : "{'list':[" LISTED("add") "]}");
		write_list(SERVER("one"));
		more.asks_servers = true;
		load();
		cr_expect_eq(package_of("one")->mcp.is_legacy, is_legacy);
		scratch_write("one.load", "");
		load();
		expect_offered("one/add ", "one\n");
		cr_assert_eq(file_read(scratch_path("one.load"), 10000, &frame), 0);
		is_told = strstr(buffer_terminate(&frame), ",\"legacy\":true}") != NULL;
		cr_expect_eq(is_told, is_legacy, "%s", frame.data);
		cr_assert_eq(unlink(scratch_path("one.load")), 0);
	}
}

Test(loader_servers, without_tools_make_no_toolbox)
{
	scratch_write_json("one.told", "{'list':[]}");
	write_list(SERVER("one"));
	load();
	expect_offered("", "one\n");
	expect_skipped("one", "its server lists no tools");
	load();
	expect_offered("", "");
	expect_skipped("one", "its server lists no tools");
}

Test(loader_servers, that_refuse_are_reported_with_the_end_of_their_log)
{
	scratch_write("one.log", "one\nsame\ntwo\nsame\n");
	scratch_write_json("one.refused", "{'pointer':'/mcp/command','message':'it has ended'}");
	write_list(SERVER("one"));
	load();
	expect_offered("", "one\n");
	expect_reported("list.json /mcpServers/one/command: it has ended; its log ends with: "
			"two | same\n");
	cr_expect_eq(status, LOADER_UNLISTED);
}

Test(loader_servers, whose_host_dies_are_reported)
{
	scratch_write("one.dies", "");
	write_list(SERVER("one"));
	load();
	expect_offered("", "one\n");
	expect_reported("list.json /mcpServers/one: describing its tools failed: its host ended "
			"with exit status 7\n");
}

/* ── patience ────────────────────────────────────────────────────────────────────────────────── */

static void has_arrived(void *data)
{
	cr_expect_eq(data, &n_arrived);
	n_arrived++;
	loop_stop(loop);
}

static void start_asking(void)
{
	static char path[sizeof(scratch_folder) + 8];

	snprintf(path, sizeof(path), "%s/host", scratch_folder);
	cr_assert_eq(asking_new(loop, path, &config, has_arrived, &n_arrived, &asking), 0);
}

static void expect_ids(bool has_answers, const char *expected)
{
	cleanup(text_list_deinit) struct text_list ids = {0};

	cr_assert_eq(asking_list(asking, has_answers, &ids), 0);
	cr_expect_eq(ids.n_items, *expected ? 1 : 0);
	if (ids.n_items == 1)
		cr_expect_str_eq(ids.items[0], expected);
}

Test(loader_servers, that_do_not_answer_hold_no_other_up)
{
	start_asking();
	scratch_write_json("one.told", "{'list':[" LISTED("add") "]}");
	write_list(SERVER("one") "," SERVER("slow"));
	more.patience_ms = 300;
	load();
	expect_skipped("slow", "its server is being asked for its tools");
	cr_expect_eq(asking_n_waiting(asking), 0);
	expect_ids(false, "slow");
	cr_expect_not(asking_has_answers(asking));
	write_list(SERVER("one"));
	load();
	expect_ids(false, "");
}

/* The host reads a pipe before it answers. */
Test(loader_servers, that_answer_late_are_taken_by_another_load)
{
	FILE *pipe;

	start_asking();
	cr_assert_eq(mkfifo(scratch_path("one.log"), 0600), 0);
	scratch_write_json("one.told", "{'list':[" LISTED("add") "]}");
	write_list(SERVER("one"));
	more.patience_ms = 1;
	load();
	expect_skipped("one", "its server is being asked for its tools");
	cr_expect_eq(n_arrived, 0);
	pipe = fopen(scratch_path("one.log"), "we");
	cr_assert(pipe);
	fclose(pipe);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect_eq(n_arrived, 1);
	cr_expect(asking_has_answers(asking));
	expect_ids(true, "one");
	expect_ids(false, "");
	more.takes_answers = true;
	load();
	expect_offered("one/add ", "");
	cr_expect_not(asking_has_answers(asking));
}

Test(loader_servers, that_refused_are_asked_again_by_a_load_that_may)
{
	start_asking();
	scratch_write_json("one.refused", "{'pointer':'','message':'not now'}");
	write_list(SERVER("one"));
	load();
	expect_offered("", "one\n");
	more.takes_answers = true;
	load();
	expect_offered("", "");
	cr_expect(strstr(reported.data, "not now"), "%s", reported.data);
	scratch_write_json("one.told", "{'list':[" LISTED("add") "]}");
	more.takes_answers = false;
	load();
	expect_offered("one/add ", "one\n");
}
