/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/answer.h"
#include "core/held.h"
#include "core/reload/reload.h"
#include "core/request_scope.h"
#include "policy/limits.h"

/*
 * Requests for an unknown tool that come while a change of what is installed is pending. They wait for
 * it: a script that installs a tool and calls it at once finds it.
 *
 *   change seen ── quiet ──▶ reload ──▶ done ──┐
 *        unknown name ──▶ late_hold ───────────┼─▶ served again: found, or unknown
 *              LATE_MS over, cancelled ────────┘
 *
 * A tool that the caller may not see is unknown here, too, and waits as long as one that does not exist.
 */

/* The longest wait of a request. */
#define LATE_MS 500

/* The most requests that wait. */
#define LATE_MAX 256

struct late {
	struct held_requests requests;
	struct reload *reload;   /* borrowed */
	struct bus *bus;         /* borrowed */
	struct limit_hold *hold; /* borrowed: of the request that is served */
};

/* Make @late empty, but for what it borrows. @function is called with @data for each request that has
 * waited. 0 or -ENOMEM. */
int late_init(struct late *late, struct loop *loop, held_function function, void *data);

/* Hold the request in @scope if @answer has the error unknown_tool, and a change is pending for which the
 * request has not waited long enough. Returns true with @answer given up; else nothing has changed. */
bool late_hold(struct late *late, const struct request_scope *scope, struct answer *answer);

/* Serve all requests again: a reload is done, or the service ends. */
void late_serve(struct late *late);

/* Free the requests without an answer. Takes a zeroed struct. */
void late_deinit(struct late *late);
