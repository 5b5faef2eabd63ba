/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Who sees to it that nothing of a host of class `command` is left behind it.
 *
 *   toolboxd ──▶ guard ──▶ host ──▶ programs ──▶ their children, also those that left the group
 *                  │
 *                  ├─ the host ends (any way)     ─▶ kill all the others, end as the host did
 *                  └─ SIGTERM: toolboxd wants it, ─▶ kill all of them
 *                     or has died
 *
 * Every descendant whose parent ends becomes a child of the guard (PR_SET_CHILD_SUBREAPER), so
 * there is no way out of its sight, by setsid() or by a second fork(). It kills its children until
 * it has none. The guard loads nothing and runs no tool.
 */

/*
 * Split the process: returns 0 in the host, which is a new process in a group of its own and dies
 * with the guard; the guard itself does not return. @wire_fd is the host's alone. Or a negative
 * errno, and then there is no guard.
 */
int guard_split(int wire_fd);
