/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "core/request/answer.h"
#include "core/request/held.h"
#include "offer/reload.h"
#include "core/request/request_scope.h"
#include "policy/limits.h"

/*
 * Requests for an unknown tool while a change of the installed toolboxes is pending, and requests
 * for a tool whose program or definition differs from the loaded one. They wait for the reload: a
 * script that installs a tool and calls it at once finds it, and no new program runs by an old
 * definition.
 *
 *   change seen ── quiet ──▶ reload ──▶ done ──┐
 *        unknown name ──▶ late_hold ───────────┼─▶ served again: found, or unknown
 *        other file ────▶ late_admit ──────────┤
 *              its time over, cancelled ───────┘
 *
 * A tool hidden from the caller is unknown here, too, and waits as long as a missing one.
 */

/* The longest wait of a request. */
#define LATE_MS 500

/* The longest wait for an existing tool: its caller would rather wait than fail. */
#define LATE_CHANGED_MS 5000

/* The most waiting requests. */
#define LATE_MAX 256

struct late {
	struct held_requests requests;
	struct reload *reload;   /* borrowed */
	struct bus *bus;         /* borrowed */
	struct limit_hold *hold; /* borrowed: of the request being served */
};

/* Make @late empty, but for its borrowed parts. @function is called with @data for each request
 * after its wait. 0 or -ENOMEM. */
int late_init(struct late *late, struct loop *loop, held_function function, void *data);

/* Hold the request in @scope if @answer has the error unknown_tool, and the request has not waited
 * long enough for a pending change. Returns true with @answer given up; else nothing has
 * changed. */
bool late_hold(struct late *late, const struct request_scope *scope, struct answer *answer);

/* Return whether @tool, asked for by @scope, is unchanged since it was loaded. Else begin a reload
 * unless a change is pending, and hold the request, with @answer given up. When it cannot wait any
 * longer, the error is in @answer; or true, if no new program would run. */
bool late_admit(struct late *late, const struct request_scope *scope, const struct tool *tool,
	struct answer *answer);

/* Serve all requests again: a reload is done, or the service ends. */
void late_serve(struct late *late);

/* Free the requests without an answer. Takes a zeroed struct. */
void late_deinit(struct late *late);
