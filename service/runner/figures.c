/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include "runner/parts.h"

/* The state and the figures of a runner, for status, metrics and refusals. */

struct package *runner_package(const struct runner *runner)
{
	return runner->package;
}

enum runner_state runner_state(const struct runner *runner)
{
	if (runner->is_quarantined)
		return RUNNER_QUARANTINED;
	if (runner_count_loaded(runner) > 0 || runner->options.executor)
		return RUNNER_READY;
	if (runner_count_starting(runner) > 0)
		return RUNNER_STARTING;
	return loop_timer_is_armed(&runner->restart) ? RUNNER_RESTARTING : RUNNER_IDLE;
}

const struct output_tail *runner_output(const struct runner *runner)
{
	return &runner->output;
}

int64_t runner_state_since_ns(const struct runner *runner)
{
	return runner->state_since_ns;
}

const char *runner_reason(const struct runner *runner)
{
	return runner->reason[0] ? runner->reason : NULL;
}

unsigned int runner_n_hosts(const struct runner *runner)
{
	return runner_count_starting(runner) + runner_count_loaded(runner);
}

struct debt *runner_debt(struct runner *runner)
{
	return &runner->debt;
}

uint32_t runner_n_waiting(const struct runner *runner)
{
	return runner->n_waiting;
}

uint32_t runner_n_running(const struct runner *runner)
{
	return runner->n_running;
}

uint32_t runner_n_queued(const struct runner *runner)
{
	return runner->n_waiting + (runner->options.executor ? runner->n_running : 0);
}

uint32_t runner_n_calls(const struct runner *runner)
{
	return runner->n_waiting + runner->n_running;
}

double runner_cooldown_s(const struct runner *runner, const struct tool *tool)
{
	return tool->cooldown_s > 0 ? cooldowns_left_s(&runner->cooldowns, tool) : 0;
}

void runner_count_refused(struct runner *runner, const struct tool *tool, const char *code)
{
	struct statistics *statistics = tool_statistics_take(&runner->statistics, tool->index);

	if (!statistics)
		return;
	statistics->calls++;
	statistics_note_failure(statistics, code, NULL, 0);
}

void runner_count(struct runner *runner, const struct tool *tool, uint64_t duration_us,
	const char *code, const char *text, size_t size)
{
	struct statistics *statistics = tool_statistics_take(&runner->statistics, tool->index);

	if (!statistics)
		return;
	statistics->calls++;
	histogram_add(&statistics->durations_us, duration_us);
	if (code)
		statistics_note_failure(statistics, code, text, size);
}

const struct statistics *runner_statistics(const struct runner *runner, const struct tool *tool)
{
	return tool_statistics_find(&runner->statistics, tool->index);
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

const char *runner_start_name(enum runner_start reason)
{
	static const char *const names[] = {
		[RUNNER_START_CALL] = "call",
		[RUNNER_START_LOAD] = "load",
		[RUNNER_START_CRASH] = "crash",
		[RUNNER_START_PRESTART] = "prestart",
	};

	return names[reason];
}
