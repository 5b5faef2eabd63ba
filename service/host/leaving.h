/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "host/host.h"

/*
 * Hosts that are dismissed, until they have ended.
 *
 *   a worker's place ── leaving_take ──▶ leaving ── exit, or HOST_LEAVE_MS ──▶ gone
 *    │
 *    └─ is free at once: the next host starts while the last one leaves
 *
 * All of them leave at the same time, and nobody waits for them but who stops. A toolbox that
 * crashes or hangs while it is ended costs nobody anything.
 */
struct leaving {
	struct leaver *first;
	void (*left)(void *data, const struct host_end *end);
	void *data;
};

/* @left is called for each, when it is not among them any more; it may not end @leaving. */
void leaving_init(
	struct leaving *leaving, void (*left)(void *data, const struct host_end *end), void *data);

/* Kill those that are still there; nobody is told. */
void leaving_deinit(struct leaving *leaving);

/* Dismiss @host, which is taken over. Where there is no memory for that it is killed. */
void leaving_take(struct leaving *leaving, struct host *host);

static inline bool leaving_is_empty(const struct leaving *leaving)
{
	return !leaving->first;
}
