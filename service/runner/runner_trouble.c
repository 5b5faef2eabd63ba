/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "runner/runner_inside.h"
#include "util/clock.h"

/* What goes wrong with the hosts of a runner, for the log and for who asks (runner_reason). */

/* So long after it was logged that no host can be started, it is again. */
#define NO_START_AGAIN_MS UINT64_C(60000)

static void log_trouble(struct runner *runner, const char *text)
{
	log_limited(
		&runner->troubles, LOG_LEVEL_WARNING, "Toolbox %s: %s", runner->toolbox->id, text);
}

void runner_note_end(struct runner *runner, const struct host_exit *end)
{
	host_describe_exit(end, runner->why, sizeof(runner->why));
	log_trouble(runner, runner->why);
}

void runner_note_leave(struct runner *runner, const struct host_exit *end)
{
	static const char when[] = "while it was ended, ";
	char text[WHY_BYTES];

	if (end->reason == HOST_EXITED && end->exit_code == 0)
		return;
	memcpy(text, when, sizeof(when));
	host_describe_exit(end, text + strlen(when), sizeof(text) - strlen(when));
	log_trouble(runner, text);
}

void runner_note_no_start(struct runner *runner, int error)
{
	uint64_t now_ms = clock_now_ms();
	char why[WHY_BYTES];

	snprintf(why, sizeof(why), "its host cannot be started (%s): %s",
		runner->options.host_program, strerror(-error));
	if (strcmp(why, runner->why) == 0 && now_ms - runner->no_start_ms < NO_START_AGAIN_MS)
		return;
	memcpy(runner->why, why, sizeof(why));
	runner->no_start_ms = now_ms;
	log_trouble(runner, runner->why);
}
