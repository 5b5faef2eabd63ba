/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/kind.h"
#include "runner/runner_inside.h"

/*
 * Calls on their way to a host, and those that are sent ahead: when a host is done with a call it
 * finds the next one in its socket, and does not wait for the daemon's turn. With many calls in
 * flight the daemon then takes several answers in one turn.
 *
 *   queue    4   5   6   7   8 …      all of these wait: their clocks run, they can be cancelled
 *            └───┴───┘
 *            is_ahead                 the host has these already
 *   host     3 runs
 *
 * What has been sent cannot be called back. If a call is withdrawn after that, the host is ended
 * when its turn comes, and what is behind it goes to the next host; by then it may have run, or a
 * call behind it may, which will be run again. That does no harm to tools that only read, so others
 * are not sent ahead. Nor is anything where several hosts share the queue: another one may be done
 * first.
 */

/* Of arguments. What is larger gains nothing, and could be more than a socket takes. */
#define AHEAD_BYTES_MAX 4096

int runner_tell_host(struct runner_worker *worker, const struct runner_call *call,
	const char *arguments, size_t size)
{
	uint64_t left_ms = queue_left_ms(call);
	struct host_call invoke = {
		.tool = call->tool,
		.timeout_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX,
		.caller = call->caller.data,
		.caller_size = call->caller.size,
		.arguments = arguments,
		.size = size,
	};

	return host_invoke(worker->host, call->id, &invoke);
}

/* Native functions alone are not told how much time they have, which counts from their turn. */
static bool may_go_ahead(const struct runner *runner, const struct runner_call *call)
{
	const struct tool *tool = &runner->toolbox->tools[call->tool];

	return runner->toolbox->kind == KIND_NATIVE && tool->risk == TOOL_READ &&
	       tool->cooldown_s == 0 && call->arguments.size <= AHEAD_BYTES_MAX;
}

void runner_send_ahead(struct runner *runner)
{
	struct runner_worker *worker = runner->workers[0];

	if (runner->n_workers > 1 || !worker->running)
		return;
	for (struct runner_call *call = runner->queue.first; call; call = call->next) {
		if (call->is_ahead)
			continue;
		if (!may_go_ahead(runner, call) ||
			runner_tell_host(worker, call, call->arguments.data, call->arguments.size) <
				0)
			return;
		call->is_ahead = true;
	}
}

void runner_forget_ahead(struct runner *runner)
{
	for (struct runner_call *call = runner->queue.first; call && call->is_ahead;
		call = call->next)
		call->is_ahead = false;
}

bool runner_has_strayed(const struct runner_worker *worker)
{
	const struct runner_call *next = worker->runner->queue.first;
	uint64_t id = host_current(worker->host);

	return id != 0 && (!next || next->id != id);
}
