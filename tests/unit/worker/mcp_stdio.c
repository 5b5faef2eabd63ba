/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../scratch.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "worker/driver.h"

/*
 * Servers over stdio that are a line of a shell: how they begin, and the reasons against them. The
 * line finds $log, a file of the test, and answers by `say ID RESULT`, with ' in place of ".
 */

#define PRELUDE                                                                                    \
	"say() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$1\" \"$2\"; }; "

#define LIST "'{\"tools\":[{\"name\":\"add\",\"inputSchema\":{\"type\":\"object\"}}]}'"

/* Answers of the legacy era, from initialize on with the id $1. */
#define LEGACY(id)                                                                                 \
	"say " id " '{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}}'; "      \
	"read notification; read list; id=${list#*\\\"id\\\":}; say ${id%%,*} " LIST "; "

#define MODERN(id)                                                                                 \
	"say " id " '{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"         \
	"\"capabilities\":{\"tools\":{}}}'; read list; id=${list#*\\\"id\\\":}; "                  \
	"say ${id%%,*} '{\"resultType\":\"complete\",\"ttlMs\":600000,\"tools\":[]}'; "

static void *driver;
static struct diagnostics problems;
static int ends[2];

static void set_up(void)
{
	scratch_set_up();
	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(setenv("log", scratch_path("log"), 1), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void tear_down(void)
{
	mcp_stdio_driver.free(driver);
	diagnostics_deinit(&problems);
	close(ends[0]);
	close(ends[1]);
	scratch_tear_down();
}

TestSuite(mcp_stdio, .init = set_up, .fini = tear_down, .timeout = 60);

/* Load the server that is the words of @argv, JSON, with these members of the LOAD frame. */
static int load_words(const char *argv, const char *members)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	mcp_stdio_driver.free(driver);
	driver = NULL;
	diagnostics_deinit(&problems);
	problems = (struct diagnostics){0};
	buffer_printf(&text, "{\"start_timeout_ms\":30000,%s\"mcp\":{\"argv\":%s}}", members, argv);
	cr_assert_eq(
		json_tape_read(&tape, buffer_terminate(&text), text.size, JSON_DEPTH_DEFAULT, NULL),
		0, "%s", text.data);
	return mcp_stdio_driver.load(
		&(struct driver_load){
			.tape = &tape, .wire = ends[1], .text = text.data, .text_size = text.size},
		&driver, &problems);
}

/* Load the server that is @line. */
static int load_line(const char *line, const char *members)
{
	cleanup(buffer_deinit) struct buffer argv = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};

	buffer_append_string(&whole, PRELUDE);
	buffer_append_string(&whole, line);
	buffer_append_string(&argv, "[\"/bin/sh\",\"-c\",");
	json_write_text(&argv, buffer_terminate(&whole));
	buffer_append_char(&argv, ']');
	return load_words(buffer_terminate(&argv), members);
}

static void expect_refused(int result, const char *reason)
{
	cr_expect_eq(result, DRIVER_E_REFUSED, "%d", result);
	cr_assert_eq(problems.n_items, 1, "%s", reason);
	cr_expect_str_eq(problems.items[0].text, reason, "%s", problems.items[0].text);
	cr_expect_str_eq(problems.items[0].pointer, "/mcp");
}

/* Expect what the LOADED frame gets. */
static void expect_described(const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *json = quoted(expected);

	mcp_stdio_driver.describe(driver, &out);
	cr_expect_str_eq(buffer_terminate(&out), json, "%s", out.data);
}

/* Return how many lines the servers have written to $log. */
static size_t count_log(void)
{
	FILE *file = fopen(scratch_path("log"), "r");
	size_t n = 0;
	int c;

	while (file && (c = getc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

#define LISTED "{'name':'add','inputSchema':{'type':'object'}}"

Test(mcp_stdio, tells_why_a_server_cannot_be_started)
{
	expect_refused(load_words("[\"/none/x\",\"a b\"]", ""),
		"the server '/none/x' cannot be started: No such file or directory");
	expect_refused(load_words("[\"no-such a\"]", ""),
		"the server 'no-such a' cannot be started: No such file or directory (write each "
		"word of a command separately)");
	expect_refused(
		load_words("[\"/\"]", ""), "the server '/' cannot be started: Is a directory");
}

Test(mcp_stdio, tells_how_a_server_has_ended)
{
	expect_refused(load_line("exit 3", ""),
		"the server has exited with status 3 before it has listed its tools");
	expect_refused(load_line("kill -9 $$", ""),
		"the server was ended by signal 9 before it has listed its tools");
}

Test(mcp_stdio, tells_why_a_server_cannot_be_used)
{
	expect_refused(load_line("while read x; do id=${x#*\\\"id\\\":}; id=${id%%,*}; "
				 "printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-1,"
				 "\"message\":\"No.\"}}\\n' $id; done",
			       ""),
		"the server cannot be used: it has refused server/discover and initialize: No.");
}

Test(mcp_stdio, takes_lines_with_a_cr_and_empty_ones)
{
	cr_assert_eq(
		load_line("echo x >>$log; read x; echo; printf '\\r\\n'; say 1 "
			  "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":"
			  "{\"tools\":{}}}' | tr '\\n' '\\r'; echo; read n; read l; say 2 " LIST
			  "; read end",
			"\"legacy\":true,"),
		0);
	expect_described(",'list':[" LISTED "],'legacy':true");
	cr_expect_eq(count_log(), 1);
}

Test(mcp_stdio, knows_a_server_of_the_modern_era)
{
	cr_assert_eq(load_line("read x; " MODERN("1") "read end", ""), 0);
	expect_described(",'list':[]");
}

/* ── a server that ends on a request ─────────────────────────────────────────────────────────── */

Test(mcp_stdio, starts_a_server_again_that_ends_on_server_discover)
{
	cr_assert_eq(load_line("echo x >>$log; read x; case \"$x\" in *initialize*) ;; *) exit 1;; "
			       "esac; " LEGACY("1") "read end",
			     ""),
		0, "%s", problems.n_items ? problems.items[0].text : "");
	expect_described(",'list':[" LISTED "],'legacy':true");
	cr_expect_eq(count_log(), 2);
}

Test(mcp_stdio, starts_a_server_again_that_ends_on_initialize)
{
	cr_assert_eq(load_line("echo x >>$log; read x; case \"$x\" in *initialize*) exit 1;; "
			       "esac; " MODERN("1") "read end",
			     "\"legacy\":true,"),
		0, "%s", problems.n_items ? problems.items[0].text : "");
	expect_described(",'list':[]");
	cr_expect_eq(count_log(), 2);
}

Test(mcp_stdio, starts_a_server_again_once)
{
	expect_refused(load_line("echo x >>$log; read x; exit 4", ""),
		"the server has exited with status 4 before it has listed its tools");
	cr_expect_eq(count_log(), 2);
}

Test(mcp_stdio, starts_no_server_again_that_has_not_read_its_request)
{
	expect_refused(load_line("echo x >>$log; exit 4", ""),
		"the server has exited with status 4 before it has listed its tools");
	cr_expect_eq(count_log(), 1);
}

Test(mcp_stdio, starts_no_server_again_whose_era_callers_know)
{
	expect_refused(load_line("echo x >>$log; read x; exit 4", "\"legacy\":true,\"tools\":[],"),
		"the server has exited with status 4 before it has listed its tools");
	cr_expect_eq(count_log(), 1);
}

Test(mcp_stdio, starts_no_server_again_that_ends_after_its_answer)
{
	expect_refused(load_line("echo x >>$log; read x; say 1 '{\"protocolVersion\":"
				 "\"2025-06-18\",\"capabilities\":{\"tools\":{}}}'; exit 5",
			       "\"legacy\":true,"),
		"the server has exited with status 5 before it has listed its tools");
	cr_expect_eq(count_log(), 1);
}
