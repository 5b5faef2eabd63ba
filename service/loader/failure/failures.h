/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "loader/job.h"

/*
 * Toolboxes that failed and would fail again. A load does not try them, but takes the result of the
 * earlier trial over:
 *
 *   the manifest is refused ────────── until its bytes change
 *   there is no room for its tools ─── until the toolboxes that go on leave room
 *   its gate is closed ─────────────── until its files change, or somebody asks for a reload
 *   in each case ───────────────────── until the configuration changes
 *
 * A refusal that depends on more is not taken over: programs, interpreters and servers may be there
 * now, a library (with the tools of a plugin) may load with another one, and the time of reading
 * depends on the machine.
 */

/* Set job->failed of each job, or job->closed, to the earlier trial of its file, borrowed, and note
 * the digest of the configuration. 0 or -ENOMEM. */
int failures_find(struct load_jobs *jobs);

/* Let @job fail as before, if nothing has changed. Return 1 then; 0 when it is to be tried, or
 * -ENOMEM. */
int failures_repeat(struct load_job *job);

/* Return the digest of the manifest and the library of @package, other than 0: the tools at its
 * gate, with its programs and the configuration. */
uint64_t failures_gate_digest(const struct package *package);

/* Let @job, whose package comes to its gate, fail as before, if nothing has changed, in a load that
 * was not asked for. Return whether it has failed. */
bool failures_repeat_gate(struct load_job *job);

/* Count the toolbox of @job, which goes on unchanged, among those that take room, if there is any.
 */
void failures_count(struct load_job *job);

/* Let @job fail, since there is no room for its tools. */
void failures_refuse_room(struct load_job *job);

/* Store the trial of @job, which has failed as the toolbox @id, in *ret_failed, with a reference;
 * NULL, if the next load is to try again. 0 or -ENOMEM. */
int failures_note(const struct load_job *job, const char *id, struct failed **ret_failed);
