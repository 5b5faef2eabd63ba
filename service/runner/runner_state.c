/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include "runner/runner_inside.h"

/* What a runner tells of itself. */

struct toolbox *runner_toolbox(const struct runner *runner)
{
	return runner->toolbox;
}

enum runner_state runner_state(const struct runner *runner)
{
	if (runner->is_quarantined)
		return RUNNER_QUARANTINED;
	if (runner->n_loaded > 0)
		return RUNNER_READY;
	if (runner->n_starting > 0)
		return RUNNER_STARTING;
	return loop_timer_is_armed(&runner->restart) ? RUNNER_RESTARTING : RUNNER_IDLE;
}

const char *runner_state_name(enum runner_state state)
{
	static const char *const names[] = {
		[RUNNER_IDLE] = "idle",
		[RUNNER_STARTING] = "starting",
		[RUNNER_READY] = "ready",
		[RUNNER_RESTARTING] = "restarting",
		[RUNNER_QUARANTINED] = "quarantined",
	};

	return names[state];
}

const char *runner_reason(const struct runner *runner)
{
	return runner->why[0] ? runner->why : NULL;
}

unsigned int runner_n_hosts(const struct runner *runner)
{
	return runner->n_starting + runner->n_loaded;
}

bool runner_has_reaped_all(const struct runner *runner)
{
	return reaper_is_empty(&runner->reaper);
}

uint32_t runner_n_waiting(const struct runner *runner)
{
	return runner->queue.n_calls;
}

uint32_t runner_n_calls(const struct runner *runner)
{
	return runner->queue.n_calls + runner->n_running;
}

double runner_cooldown_s(const struct runner *runner, const struct tool *tool)
{
	return cooldowns_left_s(&runner->cooldowns, tool);
}

struct statistics *runner_statistics(struct runner *runner, const struct toolbox *toolbox)
{
	return &runner->statistics[toolbox->member];
}

struct runner *runner_hold(struct runner *runner)
{
	runner->n_holders++;
	return runner;
}

bool runner_release(struct runner *runner)
{
	return --runner->n_holders == 0;
}
