/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/job/job.h"

/*
 * Jobs as their callers see them: ovos.tools.job.get, .list and .completed.
 *
 *   get ─ ended, or wait_ms is 0 ─▶ the job as it is
 *     └── it runs ─▶ a waiter ─ the job ends, its time is over, the service stops ─▶ the same
 *
 * A caller sees the jobs with its source, and with its session where the request names a session.
 * Other jobs look unknown.
 */

/* Return whether a person is asked about the call of @job. */
bool job_is_asked_about(const struct job *job);

/* Return the time for which @job is kept after its end. */
uint64_t job_keep_ms(const struct job *job);

/* Append the members `started` and `ttl_ms` of @job. */
void job_write_times(const struct job *job, struct buffer *out);

/* Append the members of @job, without braces; @is_whole: with its result or error. */
void job_write_members(const struct job *job, bool is_whole, struct buffer *out);

/* Return the job with the id of the request; when the caller sees none, the error is in @answer. */
struct job *jobs_find_asked(
	const struct jobs *jobs, const struct request_scope *scope, struct answer *answer);

/* Serve ovos.tools.job.get and .list. */
void jobs_get(struct jobs *jobs, const struct request_scope *scope, struct answer *answer);
void jobs_list(const struct jobs *jobs, const struct request_scope *scope, struct answer *answer);

/* Answer the waiting requests for @job (NULL: for any). */
void jobs_answer_waits(struct jobs *jobs, const struct job *job);

/* Answer the requests at the end of their wait (@data is the jobs; loop_timer_function). */
void jobs_look_at_waits(void *data);
