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

/* Return whether a report may pass at @now_ms, by clock_now_ms(), and count it then. */
static inline bool pace_take(struct pace *pace, uint64_t now_ms)
{
	if (pace->due_ms > now_ms + (uint64_t)(PACE_BURST - 1) * PACE_MS)
		return false;
	pace->due_ms = (pace->due_ms > now_ms ? pace->due_ms : now_ms) + PACE_MS;
	return true;
}
