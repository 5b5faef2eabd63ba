/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "loop/aside.h"
#include "loop/loop.h"
#include "policy/hex.h"
#include "util/buffer.h"
#include "util/list.h"

/*
 * The files of jobs, STATE/jobs/ID.json: one for each, written as a whole in a thread.
 *
 *   loop     job_store_put ──▶ queue ──────────────┐                        ┌──▶ written()
 *   thread                       └─ all of it ─▶ file_replace, or unlink ──┘
 *
 * After a SIGKILL, or a power cut, a file has its old contents or the new ones, and a change is on
 * the disk before written() reports it. A job has one change at a time, so the queue is as long as
 * there are jobs.
 */

/* A change of the file of one job, embedded in the job. */
struct job_change {
	struct list link;
	char id[HEX_ID_CHARS + 1];
	struct buffer text;                      /* the new contents; empty: there is no file */
	void (*written)(void *data, int status); /* from the loop; a negative errno: it failed */
	void *data;
	int status;
};

struct job_store {
	struct loop *loop;
	char *folder; /* NULL: there is no state folder */
	struct list queue;
	struct list current;   /* the changes that the thread has */
	struct aside *aside;   /* it is running */
	struct loop_task fail; /* reports that there is no thread */
	int error;             /* the reason, a negative errno */
};

/* Make @store ready for the files of the state folder @state (copied; NULL: there is none). Return
 * 0 or -ENOMEM. */
int job_store_init(struct job_store *store, struct loop *loop, const char *state);

/* Make the changes that wait, in the thread of the caller, and free what @store has; written() is
 * not called. Takes a zeroed struct. */
void job_store_deinit(struct job_store *store);

/* Begin @change, complete and in no list. written() follows from the loop. */
void job_store_put(struct job_store *store, struct job_change *change);

/* Return whether no change is under way. */
bool job_store_is_idle(const struct job_store *store);

/* Call @visit with @data for the contents of each file, in no order; it may take them over. Leave
 * alone files of another form, or with more than @size_max bytes; remove the drafts of writers that
 * were killed. Return 0 or a negative errno. */
int job_store_each(struct job_store *store, size_t size_max,
	void (*visit)(void *data, const char *id, struct buffer *text), void *data);
