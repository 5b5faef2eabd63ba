/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "util/log.h"

/* The troubles of a runner with its hosts: the latest one, and their lines in the log. A zeroed
 * struct has none. */

#define TROUBLES_REASON_BYTES 512

struct troubles {
	char reason[TROUBLES_REASON_BYTES]; /* "": none */
	struct log_rate rate;               /* limits the log: a caller can provoke them */
	uint64_t no_start_ms;               /* last log line about hosts that cannot be started */
};

/* Log @text about the toolbox @id. */
void troubles_log(struct troubles *troubles, const char *id, const char *text);

/* Let the reason be that hosts of @program cannot be started, for @error (a negative errno), and
 * log it; again every minute as long as the reason stays the same. */
void troubles_log_no_start(
	struct troubles *troubles, const char *id, const char *program, int error);
