/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The pace of the reports of one call: PACE_BURST of them at once, and then one in PACE_MS. So no
 * few reports are lost because they came closer together than they were sent. (It is the virtual
 * scheduling of the generic cell rate algorithm, ITU-T I.371.) A zeroed struct has no report yet.
 *
 *   due_ms    when the pace would be kept without a burst
 */
struct pace {
	uint64_t due_ms;
};

#define PACE_MS    50
#define PACE_BURST 4

/* Return whether one may pass at @now_ms, by clock_now_ms(), and count it then: @burst at once, and
 * then one in @step_ms. */
static inline bool pace_take_by(
	struct pace *pace, uint64_t now_ms, uint64_t step_ms, unsigned int burst)
{
	if (pace->due_ms > now_ms + (burst - 1) * step_ms)
		return false;
	pace->due_ms = (pace->due_ms > now_ms ? pace->due_ms : now_ms) + step_ms;
	return true;
}

/* Return whether a report may pass at @now_ms, and count it then. */
static inline bool pace_take(struct pace *pace, uint64_t now_ms)
{
	return pace_take_by(pace, now_ms, PACE_MS, PACE_BURST);
}
