/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/runner.h"

/*
 * A runner with a toolbox of tests/toolboxes, and all that becomes of the calls given to it.
 */

#define CALLS_MAX 16

/* What a call has come to. */
struct call {
	struct runner_call runner_call; /* first: a call is what embeds it */
	unsigned int n_ends;
	unsigned int position; /* among all ends, from 1 */
	enum runner_outcome outcome;
	struct host_end end;
	char text[256]; /* of the result, of the failure, of why */
};

struct calls {
	struct loop *loop;
	struct toolbox *toolbox;
	struct runner_options options; /* for calls_start(); may be changed before */
	struct runner *runner;
	struct call calls[CALLS_MAX];
	unsigned int n_calls;
	unsigned int n_ends;
	unsigned int n_drains;
	unsigned int n_progress;
};

extern struct calls calls;

/* Read the toolbox at @path and set the usual options. */
void calls_set_up_with(const char *path);

/* For fixtures: with misbehave. */
void calls_set_up(void);
void calls_tear_down(void);

/* Make the runner. */
void calls_start(void);

/* The tool called @name, which may be changed before calls_start(). */
struct tool *calls_tool(const char *name);

/* Submit a call; what runner_submit() says goes to *ret_status (may be NULL: it must be 0). */
struct call *calls_submit(
	const char *tool, const char *arguments, uint64_t timeout_ms, int *ret_status);

/* Serve until @n_ends calls have ended in all. */
void calls_wait(unsigned int n_ends);

/* Serve until the runner is in @state. */
void calls_wait_for_state(enum runner_state state);

/* Submit and wait for its end. */
struct call *calls_run(const char *tool, const char *arguments);

/* The process of the only host: our only child. */
pid_t calls_host_process(void);
