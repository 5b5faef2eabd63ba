/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/history/call_summary.h"
#include "util/log.h"
#include "util/text/text_view.h"

/*
 * The line of the log about an ended call:
 *
 *   Call c4f1a2 crashy/crash for skill-math: host_crashed (SIGSEGV) after 0.9 ms
 *
 *   debug      every call, with its call_id and session
 *   info       a call that failed by a mistake of its caller, or was cancelled
 *   warning    every other failed call
 *
 * Above debug, the lines of each code have a limited rate.
 */

/* Write the line about @summary, if its level is logged. @rates: by code, ANSWER_CODES of them.
 * @parent: the `traceparent` of the call, absent for none. */
void call_log_write(
	struct log_rate *rates, const struct call_summary *summary, struct text_view parent);
