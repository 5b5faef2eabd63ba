/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/troubles.h"

#include <stdio.h>
#include <string.h>

#include "util/clock.h"

/* The time between two log lines about hosts that cannot be started. */
#define NO_START_AGAIN_MS UINT64_C(60000)

void troubles_log(struct troubles *troubles, const char *id, const char *text)
{
	log_limited(&troubles->rate, LOG_LEVEL_WARNING, "Toolbox %s: %s", id, text);
}

void troubles_log_no_start(
	struct troubles *troubles, const char *id, const char *program, int error)
{
	uint64_t now_ms = clock_now_ms();
	char reason[TROUBLES_REASON_BYTES];

	snprintf(reason, sizeof(reason), "its host cannot be started (%s): %s", program,
		strerror(-error));
	if (strcmp(reason, troubles->reason) == 0 &&
		now_ms - troubles->no_start_ms < NO_START_AGAIN_MS)
		return;
	memcpy(troubles->reason, reason, sizeof(reason));
	troubles->no_start_ms = now_ms;
	troubles_log(troubles, id, troubles->reason);
}
