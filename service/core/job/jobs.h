/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/job/job.h"

/* The life of jobs (core/job/job.h). */

/* Make @jobs empty, for the state folder @state (NULL: there is none). @serve is called with @data,
 * from the loop, for the call of a job. Return 0 or -ENOMEM. */
int jobs_init(struct jobs *jobs, struct loop *loop, const struct invoker *invoker,
	const char *state, job_function serve, void *data);

/* Forget all jobs, but not their files; no call is in flight any more. Takes a zeroed struct. */
void jobs_deinit(struct jobs *jobs);

/* Begin a job by the request in @scope, which has passed the checks for @tool. Return true with
 * @answer taken over; else the error is in it. */
bool jobs_begin(struct jobs *jobs, const struct request_scope *scope, const struct tool *tool,
	struct answer *answer);

/* Take the jobs that an earlier service has left, unless they are there, or another process has
 * them; the bus is open. */
void jobs_open(struct jobs *jobs);

/* Cancel @job if it has no call yet. Return whether it had none. */
bool job_cancel_early(struct job *job);

/* The same for all jobs of the bus with this origin. Return whether there was one. */
bool jobs_cancel_early(
	struct jobs *jobs, const struct buffer *source, const struct buffer *call_id);

/* Return whether each end is on the disk. */
bool jobs_are_kept(const struct jobs *jobs);
