/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "host/host.h"
#include "util/list.h"

/*
 * Hosts that were dismissed, until they have ended.
 *
 *   a worker ── reaper_take ──▶ reaper ── exit, or HOST_DISMISS_MS ──▶ freed
 *    │
 *    └─ is free at once: its next host starts while the last one ends
 *
 * All of them end at the same time, and only a daemon that stops waits for them. A toolbox that
 * crashes or hangs while it ends costs no call anything.
 */
struct reaper {
	struct list hosts;
	void (*exited)(void *data, const struct host_exit *exit);
	void *data;
};

/* Make an empty reaper. @exited is called for each host that has ended and left the reaper; it must
 * not call reaper_deinit. */
void reaper_init(struct reaper *reaper, void (*exited)(void *data, const struct host_exit *exit),
	void *data);

/* Kill the hosts that are still there, without a callback. */
void reaper_deinit(struct reaper *reaper);

/* Dismiss @host and take it over. If memory is short, kill it without a callback. */
void reaper_take(struct reaper *reaper, struct host *host);

static inline bool reaper_is_empty(const struct reaper *reaper)
{
	return list_is_empty(&reaper->hosts);
}
