/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "host/host.h"

/*
 * Hosts that are dismissed, until they have ended.
 *
 *   a worker's place ── reaper_take ──▶ reaper ── exit, or HOST_DISMISS_MS ──▶ gone
 *    │
 *    └─ is free at once: the next host starts while the last one leaves
 *
 * All of them leave at the same time, and nobody waits for them but who stops. A toolbox that
 * crashes or hangs while it is ended costs nobody anything.
 */
struct reaper {
	struct reaped *first;
	void (*exited)(void *data, const struct host_exit *exit);
	void *data;
};

/* @exited is called for each, when it is not among them any more; it may not end @reaper. */
void reaper_init(struct reaper *reaper, void (*exited)(void *data, const struct host_exit *exit),
	void *data);

/* Kill those that are still there; nobody is told. */
void reaper_deinit(struct reaper *reaper);

/* Dismiss @host, which is taken over. Where there is no memory for that it is killed. */
void reaper_take(struct reaper *reaper, struct host *host);

static inline bool reaper_is_empty(const struct reaper *reaper)
{
	return !reaper->first;
}
