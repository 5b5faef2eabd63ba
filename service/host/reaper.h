/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "host/host.h"
#include "util/list.h"

/*
 * Dismissed hosts, until they have ended.
 *
 *   a worker ── reaper_take ──▶ reaper ── exit, or HOST_DISMISS_MS ──▶ freed
 *    │
 *    └─ is free at once: its next host starts while the last one ends
 *
 * All of them end at the same time, and only a stopping daemon waits for them. A crash or hang at
 * the end of a toolbox costs no call anything.
 */
struct reaper {
	struct list hosts;
	void (*exited)(void *data, const struct host_exit *exit);
	void *data;
};

/* Make an empty reaper. @exited is called for each host after its end, outside of the reaper;
 * @exited must not call reaper_deinit. */
void reaper_init(struct reaper *reaper, void (*exited)(void *data, const struct host_exit *exit),
	void *data);

/* Kill the remaining hosts, without a callback. */
void reaper_deinit(struct reaper *reaper);

/* Dismiss @host and take it over. If memory is short, kill it without a callback. */
void reaper_take(struct reaper *reaper, struct host *host);

static inline bool reaper_is_empty(const struct reaper *reaper)
{
	return list_is_empty(&reaper->hosts);
}
