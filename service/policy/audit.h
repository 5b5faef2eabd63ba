/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "loop/loop.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/list.h"

/*
 * The audit log, written by a thread of its own: a slow or hanging disk holds no call, except a
 * call waiting for its line (audit.required).
 *
 *   loop     audit_append ──▶ queue ─────────────────────────┐        audit_wait.written()
 *   thread                      └──▶ policy/audit_file ──▶ finished ──▶ eventfd ──▲
 *
 * The queue is bounded: a line without room is lost. Lost lines are counted, logged at a limited
 * rate and shown in the status. So are lines refused by the disk.
 */
struct audit;

/* The bytes of waiting lines. A single line may always wait, however long. */
#define AUDIT_QUEUE_BYTES (4u << 20)

/* The longest wait of the end of the service for the lines to be written. */
#define AUDIT_FINISH_MS 1000

/* A caller of audit_append() waiting for its line to be on the disk. Embedded in the struct of the
 * caller. */
struct audit_wait {
	struct list link;
	uint64_t number;                         /* number of the line */
	void (*written)(void *data, int status); /* from the loop; a negative errno: it is not */
	void *data;
};

struct audit_figures {
	uint64_t written; /* lines, since the start */
	uint64_t lost;
	int error; /* why lines cannot be written now, a negative errno; 0 */
};

/* Create an audit log that is off. Return 0 or a negative errno. */
int audit_new(struct loop *loop, struct audit **ret_audit);

/* Write to the file @path from now on (copied; NULL: off), which becomes FILE.1 when it grows over
 * @max_bytes. Return 0 or a negative errno. */
int audit_set_file(struct audit *audit, const char *path, uint64_t max_bytes);

/* Return whether there is a file. */
bool audit_is_on(const struct audit *audit);

/* Open the file again with the next line: it may have been moved away. */
void audit_reopen(struct audit *audit);

/* Queue a line (see audit_file_append()). It is taken over, also when it is lost. With @wait, whose
 * written() and data are set, the line is synced, and written() follows from the loop. Return 0;
 * -ENOBUFS when the queue is full, or -ENOMEM: then written() does not follow. */
int audit_append(struct audit *audit, struct buffer *line, struct audit_wait *wait);

/* Do not call written() of @wait, which may be zeroed or done. */
void audit_forget(struct audit_wait *wait);

struct audit_figures audit_figures(const struct audit *audit);

/* Return what the error of the figures means. */
const char *audit_error_text(int error);

/* Write the waiting lines, for at most AUDIT_FINISH_MS, and free @audit. The thread of a disk that
 * hangs is left to the end of the process. Takes NULL. */
void audit_free(struct audit *audit);

CLEANUP_DEFINE(audit, struct audit *, audit_free)
