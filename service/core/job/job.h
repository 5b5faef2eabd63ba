/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "call/run_llm.h"
#include "core/call/invocation.h"
#include "core/job/job_store.h"
#include "core/request/address.h"
#include "core/request/request_text.h"
#include "loop/loop.h"
#include "policy/limits.h"
#include "util/list.h"

/*
 * Jobs: calls in the background (contract.md, Jobs).
 *
 *   request with background ─ checks ─ jobs_begin
 *                                         │ its file is written
 *                KEEPING ◀────────────────┘ not: the error to the caller, and no call
 *                   │
 *                   ├─ no room beside the foreground ─▶ WAITING ──┐  {…, state: running}
 *                   │ ◀──────────────── a call has ended ─────────┘  to the caller
 *                   │ serve(): the request again, with an address of ours
 *                   ├─ refused: the error to the caller ───────────────────────┐
 *                   ▼                                                          │
 *                CALLING ── {name, job_id, state: running} to the caller       │
 *                   │ the answer of the call                                   │
 *                   ▼                                                          │
 *                ENDING ── the file has its end ──▶ job.completed, waiters     │
 *                   │                                                          ▼
 *                   ▼                            jobs.keep_hours, room   LEAVING ─ no file ─▶ freed
 *                 ENDED ───────────────────────────────────────────────────────┘
 *
 * Where a toolbox has several workers, jobs leave one worker to the foreground, and begin only
 * where no other call waits. So no call in the foreground waits for a job.
 *
 * Nothing of a job is shown before it is on the disk. So a job that was answered is there after a
 * SIGKILL, and is run once: a daemon that finds a job without an end ends it as failed. A service
 * that stops leaves the jobs that run to the next one.
 */

/* All jobs together. */
#define JOBS_MAX 256

/* Results of jobs together; beyond them the job that ended first has none any more. */
#define JOBS_RESULTS_BYTES (16u << 20)

/* The time until an end is written again after a refusal by the disk. */
#define JOB_REWRITE_MS 10000

/* The unit of jobs.keep_hours. */
#define JOB_HOUR_MS UINT64_C(3600000)

/* Requests that wait for the end of a job; one connection has half of what others leave. */
#define JOB_WAITERS_MAX 256

/* The longest wait of one. */
#define JOB_WAIT_MS_MAX 30000

enum job_phase {
	JOB_KEEPING,
	JOB_WAITING,
	JOB_CALLING,
	JOB_ENDING,
	JOB_ENDED,
	JOB_LEAVING,
};

enum job_state {
	JOB_RUNNING,
	JOB_DONE,
	JOB_FAILED,
	JOB_CANCELLED,
};
#define JOB_STATES (JOB_CANCELLED + 1)

/* The names of the states, by value. */
extern const char *const job_state_names[JOB_STATES];

/* A job. Its texts are JSON, like the texts of struct call; empty: absent. */
struct job {
	struct list link;       /* in jobs->all, in the order of their beginnings */
	struct address address; /* for the answer of its call; the job holds a reference */
	struct jobs *jobs;
	enum job_phase phase;
	enum job_state state; /* once it has ended */
	struct job_change change;
	struct answer answer;   /* to its request; open until a job is refused or runs */
	struct answer response; /* the beginning of it, for messages aside; empty: there are none */
	struct account *account;
	struct limit_hold hold;   /* its request is in flight for the limits of its caller */
	struct request_text text; /* its request, in bytes, until it is served */
	struct address *caller;   /* the address of its request: counted, or NULL */
	enum call_door door;
	struct buffer name;
	struct buffer toolbox_id;
	struct buffer call_id;
	struct buffer source;
	struct buffer session;
	struct buffer end;    /* an object with the members of its result or error */
	bool has_content;     /* its result is rich content */
	enum run_llm run_llm; /* the flag of its call, shown beside its end */
	uint64_t timeout_ms;
	int64_t started_ms;
	int64_t ended_ms; /* by CLOCK_REALTIME */
	bool is_refused;
	bool is_cancelled;  /* while KEEPING */
	bool is_unwritten;  /* its file has no end, or an earlier one: the disk has refused it */
	int64_t updated_ms; /* the time of its last progress; 0: none */
	bool has_progress;
	bool is_question; /* the text is about a question to a person */
	double progress;
	struct buffer progress_text; /* the last words of progress, cut */
	char *bytes;
	size_t held_bytes; /* charged to the account */
};

typedef int (*job_function)(void *data, struct address *address, const struct request_text *text);

struct jobs {
	const struct invoker *invoker; /* borrowed */
	job_function serve;
	void *data;
	struct job_store store;
	int lock;        /* descriptor: these files are ours; -1: not yet */
	struct list all; /* struct job */
	struct list waiters;
	uint32_t n;
	uint32_t n_waiters;
	size_t result_bytes;
	struct loop_timer expiry;  /* when ended jobs are old */
	struct loop_timer due;     /* when a waiter has waited enough */
	struct loop_timer late;    /* the deadline for jobs without room */
	struct loop_timer rewrite; /* writes ends again after a refusal by the disk */
	struct loop_task task;     /* looks for room */
	struct log_rate unwritten;
};
