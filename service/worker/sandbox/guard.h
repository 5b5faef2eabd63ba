/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The guard ends every process left by a host of class `command`.
 *
 *   toolboxd ──▶ guard ──▶ host ──▶ programs ──▶ their children, also those that left the group
 *                  │
 *                  ├─ the host ends (any way)     ─▶ kill all the others, end as the host did
 *                  └─ SIGTERM: from toolboxd,     ─▶ kill all of them
 *                     or because it died
 *
 * Every descendant whose parent ends becomes a child of the guard (PR_SET_CHILD_SUBREAPER), so
 * neither setsid() nor a second fork() escapes it. The guard kills its children until it has none.
 * It loads nothing and runs no tool. A program may kill the guard: then toolboxd adopts the
 * leftovers, knows them by their mark (util/process/guarded.h), and kills them (loop_adopt).
 */

/*
 * Split the process. Return 0 in the host, a new process in a group of its own, which dies with the
 * guard and alone keeps @wire_fd. The guard itself does not return; in the end it removes @folder
 * (NULL: none). After an error return a negative errno; then there is no guard.
 */
int guard_split(int wire_fd, const char *folder);

/* In the host: kill the other children of its guard, left by its calls, and wait for their end for
 * at most GUARD_WAIT_MS. Do nothing if the host has no guard. */
#define GUARD_WAIT_MS 250
void guard_end_others(void);
