/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "worker/sandbox/landlock.h"

/*
 * The tracer of a host reports the paths tried by the host, but not allowed by a rule of its
 * sandbox. Landlock itself reports nothing. The host runs in its whole sandbox, which alone
 * decides: the tracer lets every call go on.
 *
 *   toolboxd ──▶ (guard ──▶) tracer ──▶ host ──▶ programs
 *                              ▲ │        │ openat() waits
 *                              │ └─ a line for each new path ──▶ the report, a file
 *                              └──────────┘ goes on, into landlock
 *
 * Each line is an object:
 *
 *   {"traced": true}                                            the first one
 *   {"traced": false, "reason": "this kernel has no landlock"}  or this, and no more
 *   {"access": "read", "path": "/etc/hostname", "name": "/etc/hostname",
 *    "given": "../etc/hostname"}
 *   {"unreadable": "Operation not permitted"}                   a call with an unreadable path
 *   {"more": true}                                              paths left out
 *
 * `name` is the path for a rule, for a new file its folder. With "permissions": false, the user may
 * not do that without a sandbox either. The tracer ends as the host does; the host dies with it,
 * and so does a call.
 */

#define TRACE_LINES_MAX 256

/* Split the process, and write to the file @report. Return 0 in the host, a new process, with
 * *ret_tracer for trace_begin(); the tracer alone does not keep @wire_fd, and does not return.
 * After an error return a negative errno; then there is no tracer. */
int trace_split(const char *report, int wire_fd, int *ret_tracer);

/* From now on, let this process and its children be traced; @rules are the rules in force. No code
 * of a toolbox may have run. Return 0, or a negative errno after which nothing is traced. */
int trace_begin(int tracer, const struct landlock_rules *rules);

/* Report a failure to trace, for @reason. */
void trace_decline(int tracer, const char *reason);
