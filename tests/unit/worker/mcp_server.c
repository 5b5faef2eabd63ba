/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/server.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cleanup.h"

#define LIMIT 60

/* One message, and all of them. */
#define MESSAGE_BYTES ((size_t)256 << 10)
#define SENT_BYTES    ((size_t)16 << 20)

static struct mcp_configuration configuration;
static struct mcp_server server;

static int read_secret(void *data, bool is_file, const char *name, struct buffer *value)
{
	(void)data;
	(void)is_file;
	buffer_append_string(value, name);
	return buffer_status(value);
}

/* Start a server that is the line @line of a shell. */
static void start(const char *line)
{
	const char *words[] = {"sh", "-c", line};
	cleanup(buffer_deinit) struct buffer expanded = {0};

	signal(SIGPIPE, SIG_IGN);
	configuration.arguments = calloc(4, sizeof(char *));
	configuration.environment = calloc(2, sizeof(char *));
	cr_assert(configuration.arguments && configuration.environment);
	configuration.environment[0] = strdup("PATH=/usr/bin:/bin");
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(text_list_add(&configuration.command.arguments, words[i]), 0);
	memcpy(configuration.arguments, configuration.command.arguments.items, sizeof(words));
	cr_assert_eq(mcp_secrets_expand(&configuration.secrets, "${env:s3cret-key}", false,
			     read_secret, NULL, &expanded, NULL),
		0);
	mcp_server_init(&server, &configuration);
	cr_assert_eq(mcp_server_start(&server), 0);
}

static void stop(void)
{
	mcp_server_deinit(&server);
	mcp_configuration_deinit(&configuration);
	configuration = (struct mcp_configuration){0};
}

/* Attend to the server until something happens. Return whether it runs. */
static bool attend(void)
{
	cr_assert_gt(poll(server.sources, SERVER_SOURCES, LIMIT * 1000), 0);
	return mcp_server_attend(&server);
}

Test(mcp_server, keeps_no_bytes_that_were_sent, .timeout = LIMIT)
{
	cleanup_free char *text = malloc(MESSAGE_BYTES);
	size_t most = 0;

	cr_assert_not_null(text);
	memset(text, 'x', MESSAGE_BYTES);
	start("while head -c 65536 >/dev/null; do :; done");
	for (size_t sent = 0; sent < SENT_BYTES;) {
		/* Some of it always waits. */
		while (server.unsent.size - server.n_sent < 2 * MESSAGE_BYTES) {
			mcp_server_send(&server, text, MESSAGE_BYTES);
			sent += MESSAGE_BYTES;
		}
		most = server.unsent.capacity > most ? server.unsent.capacity : most;
		cr_assert(attend(), "%s", server.fault ? server.fault : "it has ended");
	}
	cr_expect_lt(most, 16 * MESSAGE_BYTES, "%zu", most);
	stop();
}

Test(mcp_server, masks_a_secret_at_the_cut_of_a_long_line, .timeout = LIMIT)
{
	int log = memfd_create("log", MFD_CLOEXEC);
	int before = dup(STDERR_FILENO);
	cleanup(buffer_deinit) struct buffer text = {0};
	siginfo_t end;
	ssize_t n;

	cr_assert(log >= 0 && before >= 0);
	/* It waits until each of its writes was read. */
	start("i=8182; while [ $i -le 8196 ]; do\n"
	      "printf '%*ds3cre' $i 1 >&2; read answer\n"
	      "printf 't-key, s3cret-ke.\\n' >&2; read answer; i=$((i + 1)); done");
	dup2(log, STDERR_FILENO);
	while (attend())
		if (server.sources[SERVER_ERRORS].revents)
			mcp_server_send(&server, "", 0);
	mcp_server_end(&server, false, &end);
	dup2(before, STDERR_FILENO);
	close(before);
	while ((n = pread(log, buffer_reserve(&text, 65536), 65536, (off_t)text.size)) > 0)
		text.size += (size_t)n;
	close(log);
	cr_assert_not_null(buffer_terminate(&text));
	cr_expect_null(strstr(text.data, "s3cre\n"));
	cr_expect_null(strstr(text.data, "t-key"));
	cr_expect_not_null(strstr(text.data, "***, s3cret-ke."));
	stop();
}

/* ── lines and room, without a process ───────────────────────────────────────────────────────── */

/* Take the next line, which is @expected; NULL: there is none. */
static void expect_line(const char *expected)
{
	const char *line;
	size_t size;

	cr_assert_eq(mcp_server_take_line(&server, &line, &size), expected != NULL, "%s",
		expected ? expected : "none");
	if (expected)
		cr_expect(size == strlen(expected) && memcmp(line, expected, size) == 0, "%s: %.*s",
			expected, (int)size, line);
}

Test(mcp_server, takes_its_lines_one_by_one)
{
	mcp_server_init(&server, &configuration);
	expect_line(NULL);
	buffer_append_string(&server.output, "a\nbc\n\nd");
	expect_line("a");
	expect_line("bc");
	expect_line("");
	expect_line(NULL);
	buffer_append_string(&server.output, "e\n");
	expect_line("de");
	expect_line(NULL);
	cr_expect(mcp_server_attend(&server) == false, "it has no process");
	buffer_append_string(&server.output, "f\n");
	expect_line("f");
	stop();
}

Test(mcp_server, drops_a_line_up_to_its_end)
{
	mcp_server_init(&server, &configuration);
	buffer_append_string(&server.output, "a\nbc");
	expect_line("a");
	mcp_server_skip_line(&server);
	expect_line(NULL);
	buffer_append_string(&server.output, "de");
	expect_line(NULL);
	buffer_append_string(&server.output, "f\ng\nh\n");
	expect_line("g");
	expect_line("h");
	stop();
}

Test(mcp_server, has_a_long_line_beyond_64_mib)
{
	const char *line = NULL;
	char bytes[8];
	size_t size = 0;

	/* The bytes of the line are not looked at. */
	server = (struct mcp_server){
		.output = {.data = bytes, .size = SERVER_LINE_BYTES + 2}, .n_taken = 2};
	cr_expect_not(mcp_server_has_long_line(&server, &line, &size));
	server.output.size++;
	cr_expect(mcp_server_has_long_line(&server, &line, &size));
	cr_expect_eq(line, bytes + 2);
	cr_expect_eq(size, SERVER_LINE_BYTES + 1);
}

Test(mcp_server, has_room_for_a_call_and_1_mib)
{
	const size_t most = SERVER_UNSENT_BYTES - ((size_t)1 << 20);

	server = (struct mcp_server){.unsent = {.size = 7}, .n_sent = 7};
	cr_expect(mcp_server_has_room(&server, most));
	cr_expect_not(mcp_server_has_room(&server, most + 1));
	server.n_sent = 4;
	cr_expect(mcp_server_has_room(&server, most - 3));
	cr_expect_not(mcp_server_has_room(&server, most - 2));
}

Test(mcp_server, keeps_up_to_64_mib_for_a_server_that_does_not_read, .timeout = LIMIT)
{
	cleanup_free char *text = calloc(1, SERVER_UNSENT_BYTES);
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(ends[1], "", 1) == 1)
		continue;
	mcp_server_init(&server, &configuration);
	server.sources[SERVER_INPUT].fd = ends[1];
	mcp_server_send(&server, text, SERVER_UNSENT_BYTES - 1);
	cr_expect_null(server.fault);
	cr_expect_eq(server.sources[SERVER_INPUT].events, POLLOUT);
	cr_expect_not(mcp_server_has_read(&server));
	mcp_server_send(&server, "", 0);
	cr_expect_null(server.fault, "with its end of the line");
	mcp_server_send(&server, "", 0);
	cr_expect_str_eq(server.fault, "it does not read what it is sent");
	close(ends[0]);
	stop();
}

Test(mcp_server, knows_whether_its_bytes_are_read)
{
	int ends[2];
	char byte;

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	mcp_server_init(&server, &configuration);
	server.sources[SERVER_INPUT].fd = ends[1];
	cr_expect(mcp_server_has_read(&server));
	mcp_server_send(&server, "", 0);
	cr_expect_not(mcp_server_has_read(&server));
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	cr_expect_eq(byte, '\n');
	cr_expect(mcp_server_has_read(&server));
	close(ends[0]);
	mcp_server_send(&server, "x", 1);
	cr_expect_eq(server.sources[SERVER_INPUT].fd, -1, "nobody reads it");
	cr_expect_not(mcp_server_has_read(&server));
	mcp_server_send(&server, "y", 1);
	cr_expect_null(server.fault);
	stop();
}

/* ── its end ─────────────────────────────────────────────────────────────────────────────────── */

/* Expect the way of the end of a server that is @line. */
static void expect_end(const char *line, int code, int status)
{
	siginfo_t end;

	start(line);
	while (attend())
		continue;
	cr_expect_null(server.fault);
	mcp_server_end(&server, false, &end);
	cr_expect_eq(end.si_code, code, "%s: %d", line, end.si_code);
	cr_expect_eq(end.si_status, status, "%s: %d", line, end.si_status);
	cr_expect_eq(server.pid, 0);
	for (size_t i = 0; i < SERVER_SOURCES; i++)
		cr_expect_eq(server.sources[i].fd, -1);
	stop();
}

Test(mcp_server, tells_the_way_of_its_end, .timeout = LIMIT)
{
	expect_end("exit 0", CLD_EXITED, 0);
	expect_end("exit 255", CLD_EXITED, 255);
	expect_end("kill -TERM $$", CLD_KILLED, SIGTERM);
}

Test(mcp_server, takes_its_last_lines_when_it_has_ended, .timeout = LIMIT)
{
	start("echo a; echo b; printf c");
	while (attend())
		continue;
	expect_line("a");
	expect_line("b");
	expect_line(NULL);
	stop();
}

Test(mcp_server, is_killed_with_its_group_when_it_does_not_end, .timeout = LIMIT)
{
	siginfo_t end;
	int ends[2];
	char byte;

	cr_assert_eq(pipe(ends), 0);
	start("trap '' TERM; sleep 1000 & sleep 1000");
	close(ends[1]);
	mcp_server_end(&server, false, &end);
	cr_expect_eq(end.si_code, CLD_KILLED);
	cr_expect_eq(end.si_status, SIGKILL);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "a process of the group holds the pipe");
	close(ends[0]);
	stop();
}
