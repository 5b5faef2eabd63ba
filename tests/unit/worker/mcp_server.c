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
