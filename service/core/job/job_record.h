/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "core/job/job.h"
#include "util/buffer.h"

/*
 * The record of a job, as its file has it:
 *
 *   {"name", "toolbox_id", "call_id", "source", "session_id", "door", "started_ms", "head",
 *    "run_llm", "state", "content", "ended_ms", "end": {result or error}}
 *
 * `head` is the beginning of the response to its caller on the bus, by which the end is sent. A
 * record of a running job has no `end`. A reader trusts nothing in a record.
 */

/* The most bytes of a file beside the end. */
#define JOB_RECORD_BYTES 65536

/* The most bytes of the texts about a job and its caller: two places in a record have each. */
#define JOB_TEXTS_BYTES 16384

/* Append the member `run_llm` of @job (call/run_llm.h), unless its call has no flag. */
void job_write_run_llm(const struct job *job, struct buffer *out);

/* Append the record of @job. */
void job_record_write(const struct job *job, struct buffer *out);

/* Fill @job, zeroed but for its id, from the record of @size bytes at @text. Return 0;
 * -EINVAL when it is no record; or -ENOMEM. */
int job_record_read(struct job *job, const char *text, size_t size);
