/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_SESSIONS_H
#define SHELL_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <toolbox.h>

#include "text.h"

/*
 * Sessions: commands that run, and calls that wait for them.
 *
 *   handlers      begin, write ──▶ session ◀── output, exit ── a program
 *   (one thread)        │             │
 *                       └─▶ waiter    │   the loop's own thread: it reads, writes, kills, and
 *                             └───────┴── answers the kept calls
 *
 *   a session   runs ── exit, or killed ──▶ ended ── room is needed, or idle ──▶ gone
 *
 * A session belongs to the identity and session of the call that began it. A lock guards them all.
 */

#define SESSIONS_MAX 64

/* The longest unfinished line of input that is kept, in bytes. */
#define SESSION_LINE_BYTES 4096

/* How a call waits for its session. */
struct session_wait {
	const char *tool;    /* its name, for an error */
	uint64_t yield_ms;   /* the answer comes then, or at the end of the command before */
	uint64_t timeout_ms; /* not 0: the command is ended then, and the call fails */
	size_t chars_max;    /* of the text of the answer */
};

/* Start the loop. @call: of init(). Return whether it runs; else @call has the failure. */
bool sessions_init(struct toolbox_call call);

/* Begin a session for @call that runs @argv in the folder @workdir, keep the call, and answer it
 * later. @command: its words for people. Return false with the reason in @why. */
bool sessions_begin(struct toolbox_call call, char *const *argv, const char *command,
	const char *workdir, bool has_tty, const struct session_wait *wait, struct text *why);

/* Find the session @id of the caller of @call. Return whether it is there, with the copies of its
 * command, which the caller frees, and of its unfinished line, NUL-terminated. */
bool sessions_find(struct toolbox_call call, int64_t id, char **ret_command,
	char ret_line[SESSION_LINE_BYTES + 1]);

/* Type @chars into the session @id of the caller of @call, and answer the call later. @line: its
 * unfinished line from now on. Return false with the reason in @why. */
bool sessions_write(struct toolbox_call call, int64_t id, const char *chars, size_t size,
	const char *line, const struct session_wait *wait, struct text *why);

/* End all sessions, since the toolbox is replaced. */
void sessions_end_all(void);

#endif
