/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "ctl/options.h"
#include "ctl/response.h"
#include "ctl/session.h"
#include "util/buffer.h"

/*
 * A call, from its request to its end.
 *
 *   invoke ─▶ its deadline, and the time of a process for its start;
 *     │       no time passes while a person is asked
 *     │
 *     ├─ progress ─▶ a line on the terminal
 *     ├─ a question about it ─▶ it waits, or --yes answers
 *     ├─ SIGINT, SIGTERM, SIGHUP, the end of the time ─▶ cancel, and a short wait for the response
 *     └─ its response
 */

/* Call the tool named by the command line with @args. @most_ms: its time without --timeout.
 * Return 0 with @ret_response, or a status after a complaint. *ret_signal is the signal that
 * cancelled the call, or 0. */
int call_run(struct ctl_session *session, const struct ctl_options *options,
	const struct buffer *args, uint64_t most_ms, struct ctl_response *ret_response,
	int *ret_signal);
