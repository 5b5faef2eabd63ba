/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/process/spawn.h"

/* Size of one read. */
#define READ_BYTES ((size_t)64 << 10)

/* Larger buffers are freed when empty. */
#define KEEP_BYTES ((size_t)256 << 10)

/* The room for messages other than calls, and for the frame of a call. */
#define SERVER_ROOM_BYTES ((size_t)1 << 20)

/* A longer line of stderr is passed on in pieces. */
#define ERRORS_LINE_BYTES ((size_t)8 << 10)

/* Reads of stderr once it has ended: a pipe holds no more. */
#define LAST_READS 16

/* The time for a server to end when its stdin is closed, then after SIGTERM. A dismissed host has
 * HOST_DISMISS_MS. */
#define CLOSED_MS     250
#define TERMINATED_MS 100

/* The time for the end of a server that has closed a descriptor: the kernel first closes the
 * descriptors of a killed process, and on a busy machine its end follows later. */
#define ENDING_MS 2000

void mcp_server_init(struct mcp_server *server, const struct mcp_configuration *configuration)
{
	*server = (struct mcp_server){.configuration = configuration};
	for (size_t i = 0; i < SERVER_SOURCES; i++)
		server->sources[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	server->sources[SERVER_INPUT].events = 0;
}

static void close_source(struct mcp_server *server, enum server_source source)
{
	if (server->sources[source].fd >= 0)
		close(server->sources[source].fd);
	server->sources[source].fd = -1;
	server->sources[source].revents = 0;
}

/* ── starting ────────────────────────────────────────────────────────────────────────────────── */

/* Make a pipe whose non-blocking end this process keeps as @source. */
static int open_pipe(struct mcp_server *server, enum server_source source, int *ret_other)
{
	bool writes = source == SERVER_INPUT;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	server->sources[source].fd = ends[writes];
	*ret_other = ends[!writes];
	return fcntl(ends[writes], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/* Descriptors 0 to 2 of this process are open, so no other end has such a number. */
static int spawn_with(
	struct mcp_server *server, const char *program, int input, int output, int errors)
{
	const struct command *command = &server->configuration->command;
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	r = r || errors < 0 ? r : posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	r = r || !command->cwd ? r : posix_spawn_file_actions_addchdir_np(&actions, command->cwd);
	r = r ? r
	      : spawn_process(&server->pid, program, &actions, server->configuration->arguments,
			server->configuration->environment);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		server->pid = 0;
	return -r;
}

int mcp_server_start(struct mcp_server *server)
{
	cleanup_close int input = -1;
	cleanup_close int output = -1;
	cleanup_close int errors = -1;
	char program[PATH_MAX];
	int r = command_find_program(&server->configuration->command, program);

	r = r ? r : open_pipe(server, SERVER_INPUT, &input);
	r = r ? r : open_pipe(server, SERVER_OUTPUT, &output);
	if (r == 0 && server->configuration->secrets.n_items > 0)
		r = open_pipe(server, SERVER_ERRORS, &errors);
	r = r ? r : spawn_with(server, program, input, output, errors);
	if (r)
		return r;
	server->sources[SERVER_EXIT].fd = pidfd_open(server->pid, 0);
	return server->sources[SERVER_EXIT].fd < 0 ? -errno : 0;
}

/* ── messages ────────────────────────────────────────────────────────────────────────────────── */

/* Forget the sent bytes, once no others are left, or fewer than the sent ones. */
static void trim_unsent(struct mcp_server *server)
{
	struct buffer *unsent = &server->unsent;
	size_t n_left = unsent->size - server->n_sent;

	if (server->sources[SERVER_INPUT].fd < 0 || n_left == 0) {
		buffer_recycle(unsent, KEEP_BYTES);
		server->n_sent = 0;
	} else if (server->n_sent > n_left) {
		memmove(unsent->data, unsent->data + server->n_sent, n_left);
		unsent->size = n_left;
		server->n_sent = 0;
	}
}

bool mcp_server_has_read(const struct mcp_server *server)
{
	int fd = server->sources[SERVER_INPUT].fd;
	int n_unread = 0;

	if (fd < 0)
		return !server->has_unread;
	return server->unsent.size == server->n_sent && ioctl(fd, FIONREAD, &n_unread) == 0 &&
	       n_unread == 0;
}

/* Close the pipe to the server, which has stopped reading. */
static void close_input(struct mcp_server *server)
{
	server->has_unread = !mcp_server_has_read(server);
	close_source(server, SERVER_INPUT);
}

/* Write what the pipe takes. */
static void write_input(struct mcp_server *server)
{
	struct pollfd *source = &server->sources[SERVER_INPUT];

	while (source->fd >= 0 && server->n_sent < server->unsent.size) {
		ssize_t n = write(source->fd, server->unsent.data + server->n_sent,
			server->unsent.size - server->n_sent);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno != EINTR)
			close_input(server);
		server->n_sent += n > 0 ? (size_t)n : 0;
	}
	trim_unsent(server);
	source->events = server->unsent.size > 0 ? POLLOUT : 0;
}

bool mcp_server_has_room(const struct mcp_server *server, size_t size)
{
	size_t n_unsent = server->unsent.size - server->n_sent;

	return n_unsent + size + SERVER_ROOM_BYTES <= SERVER_UNSENT_BYTES;
}

void mcp_server_send(struct mcp_server *server, const char *text, size_t size)
{
	if (server->fault || server->sources[SERVER_INPUT].fd < 0)
		return;
	if (server->unsent.size - server->n_sent + size > SERVER_UNSENT_BYTES) {
		server->fault = "it does not read what it is sent";
		return;
	}
	buffer_append(&server->unsent, text, size);
	buffer_append_char(&server->unsent, '\n');
	if (buffer_status(&server->unsent) < 0)
		server->fault = "memory is short";
	else
		write_input(server);
}

/* Read once. Return false when there is nothing more now. */
static bool read_output(struct mcp_server *server)
{
	struct buffer *output = &server->output;
	char *place = buffer_reserve(output, READ_BYTES);
	ssize_t n = place ? read(server->sources[SERVER_OUTPUT].fd, place, READ_BYTES) : -1;

	if (!place)
		server->fault = "memory is short";
	else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_source(server, SERVER_OUTPUT);
	output->size += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Forget the taken lines. */
static void trim_output(struct mcp_server *server)
{
	struct buffer *output = &server->output;

	if (server->n_taken == 0)
		return;
	memmove(output->data, output->data + server->n_taken, output->size - server->n_taken);
	output->size -= server->n_taken;
	server->n_searched -= server->n_taken;
	server->n_taken = 0;
	if (output->size == 0)
		buffer_recycle(output, KEEP_BYTES);
}

/* Search for the end of the line. Return its place, or NULL. */
static const char *find_end(struct mcp_server *server)
{
	const struct buffer *output = &server->output;
	const char *end = output->size > server->n_searched
				  ? memchr(output->data + server->n_searched, '\n',
					    output->size - server->n_searched)
				  : NULL;

	server->n_searched = end ? (size_t)(end + 1 - output->data) : output->size;
	return end;
}

bool mcp_server_take_line(struct mcp_server *server, const char **ret_line, size_t *ret_size)
{
	const char *end = find_end(server);

	if (server->is_skipping) {
		server->n_taken = server->n_searched;
		server->is_skipping = !end;
		end = end ? find_end(server) : NULL;
	}
	if (!end)
		return false;
	*ret_line = server->output.data + server->n_taken;
	*ret_size = (size_t)(end - *ret_line);
	server->n_taken = server->n_searched;
	return true;
}

bool mcp_server_has_long_line(
	const struct mcp_server *server, const char **ret_line, size_t *ret_size)
{
	if (server->output.size - server->n_taken <= SERVER_LINE_BYTES)
		return false;
	*ret_line = server->output.data + server->n_taken;
	*ret_size = server->output.size - server->n_taken;
	return true;
}

void mcp_server_skip_line(struct mcp_server *server)
{
	server->n_taken = server->n_searched = server->output.size;
	server->is_skipping = true;
}

/* ── stderr ──────────────────────────────────────────────────────────────────────────────────── */

/* Pass @size bytes of stderr on, without the secrets. @is_line: the line ends after them. Return
 * how many were passed on: the others may be the beginning of a secret. */
static size_t pass_errors(struct mcp_server *server, const char *text, size_t size, bool is_line)
{
	const struct mcp_secrets *secrets = &server->configuration->secrets;
	cleanup(buffer_deinit) struct buffer masked = {0};

	if (is_line)
		mcp_secrets_mask(secrets, text, size, &masked);
	else
		size = mcp_secrets_mask_part(secrets, text, size, &masked);
	buffer_append_char(&masked, '\n');
	if (buffer_status(&masked) == 0)
		file_write_all(STDERR_FILENO, masked.data, masked.size);
	return size;
}

/* Read stderr once and pass its whole lines on. Return false when there is nothing more now. */
static bool read_errors(struct mcp_server *server)
{
	struct buffer *errors = &server->errors;
	char *place = buffer_reserve(errors, READ_BYTES);
	ssize_t n = place ? read(server->sources[SERVER_ERRORS].fd, place, READ_BYTES) : -1;
	size_t used = 0;
	bool has_ended;
	char *end;

	if (!place || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_source(server, SERVER_ERRORS);
	has_ended = server->sources[SERVER_ERRORS].fd < 0;
	errors->size += n > 0 ? (size_t)n : 0;
	while (errors->size > used &&
		(end = memchr(errors->data + used, '\n', errors->size - used))) {
		pass_errors(server, errors->data + used, (size_t)(end - errors->data) - used, true);
		used = (size_t)(end + 1 - errors->data);
	}
	if (errors->size - used > ERRORS_LINE_BYTES || (has_ended && errors->size > used))
		used += pass_errors(server, errors->data + used, errors->size - used, has_ended);
	if (used > 0)
		memmove(errors->data, errors->data + used, errors->size - used);
	errors->size -= used;
	return n > 0;
}

/* ── events ──────────────────────────────────────────────────────────────────────────────────── */

/* Return whether it ends within @most_ms. */
static bool ends_within(const struct mcp_server *server, int most_ms)
{
	struct pollfd exit = {.fd = server->sources[SERVER_EXIT].fd, .events = POLLIN};

	return poll(&exit, 1, most_ms) > 0;
}

/* Return the fault of a server with a closed end, or NULL. */
static const char *judge_closed(const struct mcp_server *server)
{
	if (server->sources[SERVER_OUTPUT].fd < 0)
		return "it has closed its standard output";
	return server->sources[SERVER_INPUT].fd < 0 ? "it has closed its standard input" : NULL;
}

bool mcp_server_attend(struct mcp_server *server)
{
	struct pollfd *sources = server->sources;
	bool has_ended = sources[SERVER_EXIT].revents != 0;
	const char *closed;

	trim_output(server);
	if (sources[SERVER_INPUT].revents)
		write_input(server);
	/* poll() reports it again and again, whether there is something to write or not. */
	if (sources[SERVER_INPUT].revents & POLLERR)
		close_input(server);
	if (sources[SERVER_OUTPUT].revents)
		read_output(server);
	if (sources[SERVER_ERRORS].revents)
		read_errors(server);
	/* A process that ends closes its descriptors first. */
	closed = has_ended ? NULL : judge_closed(server);
	if (closed)
		has_ended = ends_within(server, ENDING_MS);
	/* Its last lines are still in the pipe. */
	while ((has_ended || closed) && !server->fault && sources[SERVER_OUTPUT].fd >= 0 &&
		server->output.size <= SERVER_LINE_BYTES && read_output(server))
		continue;
	if (!has_ended && !server->fault)
		server->fault = closed;
	return !has_ended && !server->fault;
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

void mcp_server_end(struct mcp_server *server, bool is_gentle, siginfo_t *ret_end)
{
	*ret_end = (siginfo_t){.si_code = CLD_EXITED};
	if (server->pid > 0) {
		close_source(server, SERVER_INPUT);
		if (is_gentle && !ends_within(server, CLOSED_MS)) {
			kill(-server->pid, SIGTERM);
			ends_within(server, TERMINATED_MS);
		}
		/* Its number means its group until the process is reaped. */
		if (!ends_within(server, 0))
			kill(server->pid, SIGKILL);
		while (waitid(P_PID, (id_t)server->pid, ret_end, WEXITED | WNOWAIT) < 0 &&
			errno == EINTR)
			;
		kill(-server->pid, SIGKILL);
		while (waitid(P_PID, (id_t)server->pid, ret_end, WEXITED) < 0 && errno == EINTR)
			;
		server->pid = 0;
		/* Another process may hold the pipe, and write for ever. */
		for (size_t i = 0; i < LAST_READS && server->sources[SERVER_ERRORS].fd >= 0; i++)
			read_errors(server);
	}
	for (size_t i = 0; i < SERVER_SOURCES; i++)
		close_source(server, (enum server_source)i);
	buffer_reset(&server->unsent);
	buffer_reset(&server->output);
	buffer_reset(&server->errors);
	server->n_sent = server->n_taken = server->n_searched = 0;
	server->is_skipping = false;
	server->fault = NULL;
}

void mcp_server_deinit(struct mcp_server *server)
{
	siginfo_t end;

	mcp_server_end(server, true, &end);
	buffer_deinit(&server->unsent);
	buffer_deinit(&server->output);
	buffer_deinit(&server->errors);
}
