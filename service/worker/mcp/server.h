/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/buffer.h"
#include "worker/mcp/configuration.h"

/*
 * The process of a server over stdio.
 *
 *   unsent ─▶ pipe ─▶ 0 ┌────────┐ 1 ─▶ pipe ─▶ lines, one message each
 *                       │ server │ 2 ─▶ our stderr, or, with secrets, pipe ─▶ *** ─▶ our stderr
 *                       └────────┘
 *                    a group of its own
 *
 * What it starts, and leaves, is ended by the guard of this host (worker/sandbox/guard.h).
 */

/* The longest line to read, and the most bytes waiting for a server that does not read. */
#define SERVER_LINE_BYTES   ((size_t)64 << 20)
#define SERVER_UNSENT_BYTES ((size_t)64 << 20)

enum server_source {
	SERVER_INPUT,
	SERVER_OUTPUT,
	SERVER_ERRORS,
	SERVER_EXIT,
	SERVER_SOURCES,
};

struct mcp_server {
	const struct mcp_configuration *configuration;
	pid_t pid;                             /* 0: it does not run */
	struct pollfd sources[SERVER_SOURCES]; /* fd < 0: none */
	struct buffer unsent;
	size_t n_sent; /* bytes of unsent */
	struct buffer output;
	size_t n_taken;       /* bytes of output */
	size_t n_searched;    /* bytes of output without the end of a line */
	bool is_skipping;     /* the rest of a line too long is dropped */
	struct buffer errors; /* the begin of a line */
	bool has_unread;      /* the server has closed its input before reading all */
	const char *fault;    /* why it is to be killed; NULL: no reason */
};

/* Make @server a server that does not run. */
void mcp_server_init(struct mcp_server *server, const struct mcp_configuration *configuration);

/* Start it. 0 or a negative errno. */
int mcp_server_start(struct mcp_server *server);

/* Return whether a call with arguments of @size bytes may be sent. Some room is left for other
 * messages. */
bool mcp_server_has_room(const struct mcp_server *server, size_t size);

/* Send the message @text, as soon as the server reads it. */
void mcp_server_send(struct mcp_server *server, const char *text, size_t size);

/* Return whether the server has read all sent bytes, up to now or until it closed its input. */
bool mcp_server_has_read(const struct mcp_server *server);

/* Act on the events found by poll() in server->sources. Return false when the server has ended, or
 * has to; its last lines can be taken then. */
bool mcp_server_attend(struct mcp_server *server);

/* Take the next line, without its end. It is valid until mcp_server_attend(). */
bool mcp_server_take_line(struct mcp_server *server, const char **ret_line, size_t *ret_size);

/* Return whether the unfinished line has more than SERVER_LINE_BYTES, and its bytes so far. */
bool mcp_server_has_long_line(
	const struct mcp_server *server, const char **ret_line, size_t *ret_size);

/* Drop this line up to its end. */
void mcp_server_skip_line(struct mcp_server *server);

/* End the server, gently if there is some time, reap it, and write the way of its end. */
void mcp_server_end(struct mcp_server *server, bool is_gentle, siginfo_t *ret_end);

void mcp_server_deinit(struct mcp_server *server);
