/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

/* The words of a runner for people: in status, and in the metrics. */

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
