/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/progress.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "quotes.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "wire/wire.h"

/* The lines that a program writes as its progress. JSON is written with ' in place of ". */

static struct command_progress progress;
static int daemon_end;
static int log_fd; /* in the place of stderr */

static void set_up(void)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	daemon_end = ends[0];
	progress.wire = ends[1];
	log_fd = memfd_create("log", MFD_CLOEXEC);
}

static void tear_down(void)
{
	command_progress_deinit(&progress);
	close(progress.wire);
	close(daemon_end);
	close(log_fd);
}

TestSuite(command_progress, .init = set_up, .fini = tear_down, .timeout = 60);

/* Take @size bytes, with stderr in the log. */
static void take(const char *bytes, size_t size)
{
	int before = dup(STDERR_FILENO);

	dup2(log_fd, STDERR_FILENO);
	command_progress_take(&progress, bytes, size);
	dup2(before, STDERR_FILENO);
	close(before);
}

static void take_text(const char *text)
{
	cleanup_free char *json = quoted(text);

	take(json, strlen(json));
}

/* Expect the payload of one frame of the call @id; NULL: there is none. And the number of
 * complaints since the beginning of the test. */
static void expect_frame(uint64_t id, const char *payload, unsigned int complaints)
{
	static const char complaint[] =
		"progress: ignored a line that is not {\"progress\": NUMBER, \"text\": STRING}\n";
	cleanup_free char *json = payload ? quoted(payload) : NULL;
	struct wire_header header = {0};
	char bytes[32768];
	ssize_t n = recv(daemon_end, &header, sizeof(header), MSG_DONTWAIT);

	cr_expect_eq(n > 0, payload != NULL, "%s", payload ? payload : "nothing");
	if (n > 0) {
		cr_assert_lt(header.size, sizeof(bytes));
		cr_assert_eq(recv(daemon_end, bytes, header.size, MSG_WAITALL), header.size);
		bytes[header.size] = '\0';
		cr_expect_eq(header.kind, WIRE_PROGRESS);
		cr_expect_eq(header.id, id);
		cr_expect_str_eq(bytes, json ? json : "", "%.200s", bytes);
	}
	cr_expect_eq(recv(daemon_end, bytes, 1, MSG_DONTWAIT), -1, "one frame");
	n = pread(log_fd, bytes, sizeof(bytes), 0);
	cr_expect_eq(n, (ssize_t)(complaints * strlen(complaint)), "%.*s", (int)n, bytes);
	cr_expect(n <= 0 || memcmp(bytes, complaint, strlen(complaint)) == 0);
}

Test(command_progress, is_a_number_and_a_text)
{
	static const char *const rows[][2] = {
		{"{'progress':0.5,'text':'half'}\n", "{'progress':0.5,'text':'half'}"},
		{"{'progress':1}\n", "{'progress':1.0,'text':null}"},
		{"{'text':'a'}\n", "{'progress':null,'text':'a'}"},
		{"{'progress':null}\n", "{'progress':null,'text':null}"},
		{"{'text':null}\n", "{'progress':null,'text':null}"},
		{"{'progress':1.5,'text':''}\n", "{'progress':null,'text':null}"},
		{"{'progress':1e999,'text':'b'}\n", "{'progress':null,'text':'b'}"},
		{" { 'more' : [] , 'progress' : 0 } \n", "{'progress':0.0,'text':null}"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		command_progress_begin(&progress, i);
		take_text(rows[i][0]);
		expect_frame(i, rows[i][1], 0);
	}
}

Test(command_progress, complains_once_a_call_of_a_line_that_is_none)
{
	static const char *const lines[] = {"\n", "x\n", "[]\n", "5\n", "{}\n", "{'more':1}\n",
		"{'progress':'1'}\n", "{'progress':true}\n", "{'text':1}\n",
		"{'progress':1,'text':[]}\n", "{'progress':1}{}\n"};

	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++) {
		command_progress_begin(&progress, 7);
		take_text(lines[i]);
		take_text(lines[i]);
		expect_frame(7, NULL, i + 1);
		take_text("{'progress':0}\n");
		expect_frame(7, "{'progress':0.0,'text':null}", i + 1);
	}
}

Test(command_progress, comes_in_parts)
{
	command_progress_begin(&progress, 7);
	take_text("{'text'");
	take_text(":'a");
	expect_frame(7, NULL, 0);
	take_text("b'}\n{'text':'c'}");
	expect_frame(7, "{'progress':null,'text':'ab'}", 0);
	/* The part of a line from one call is no part of a line of the next call. */
	command_progress_begin(&progress, 8);
	take_text("{'text':'d'}\n");
	expect_frame(8, "{'progress':null,'text':'d'}", 0);
}

/* Take a line of @size bytes with the text @letter once, and then spaces. */
static void take_line(size_t size, char letter)
{
	char line[COMMAND_PROGRESS_LINE_BYTES + 8];

	memset(line, ' ', sizeof(line));
	memcpy(line, "{\"text\":\" \"}", 12);
	line[9] = letter;
	line[size] = '\n';
	take(line, 100);
	take(line + 100, size + 1 - 100);
}

Test(command_progress, has_lines_of_up_to_16384_bytes)
{
	command_progress_begin(&progress, 7);
	take_line(16384, 'a');
	expect_frame(7, "{'progress':null,'text':'a'}", 0);
	command_progress_begin(&progress, 8);
	take_line(16385, 'b');
	expect_frame(8, NULL, 1);
	take_text("{'text':'c'}\n");
	expect_frame(8, "{'progress':null,'text':'c'}", 1);
}

Test(command_progress, comes_in_the_pace_of_a_call)
{
	char byte;

	command_progress_begin(&progress, 7);
	for (int i = 0; i < 1000; i++)
		take_text("{'progress':0.5}\n");
	cr_assert_eq(recv(daemon_end, &byte, 1, MSG_DONTWAIT), 1);
	shutdown(progress.wire, SHUT_WR);
	for (ssize_t n = 1, size = 1; n > 0; size += n) {
		char bytes[4096];

		n = recv(daemon_end, bytes, sizeof(bytes), 0);
		cr_assert_lt(size, 1000 * 20, "all of them came");
	}
}
