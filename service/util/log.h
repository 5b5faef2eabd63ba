/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * The log: one line per event on stderr.
 *
 *   text   2026-11-22 10:00:00.123 INFO  listening on ws://127.0.0.1:8181/core
 *   json   {"time": "2026-11-22T10:00:00.123Z", "level": "info", "message": "…"}
 *   plain  info listening on ws://127.0.0.1:8181/core
 *
 * Library code returns errors and the edges log them: one failure, one line. Lines may quote what
 * peers send, so they are made visible (util/text/visible.h). When stderr is the journal, each line
 * begins with its priority, such as `<3>` (sd-daemon(3)).
 */

enum log_level {
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_INFO,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_ERROR,
};

enum log_format {
	LOG_FORMAT_TEXT,
	LOG_FORMAT_JSON,
	/* for a command with lines of a service as its own; without a name */
	LOG_FORMAT_PLAIN,
};

/* Hold lines back until log_setup(): a program with level and format in files has lines to write
 * about these files. At most LOG_HELD_MAX; one more line ends the wait, and all are written by the
 * settings so far. */
void log_hold(void);
#define LOG_HELD_MAX 256

/* Append the line @line, without a newline at its end, for display. */
typedef void (*log_shape_function)(const char *line, size_t size, struct buffer *out);

/* Let @shape write the lines of LOG_FORMAT_PLAIN: a terminal may want them to be broken. */
void log_shape(log_shape_function shape);

/* Set the lowest level to write, and the format. The default is info and text. */
void log_setup(enum log_level level, enum log_format format);

/* The names of levels and of formats, by value; NULL ends each list. */
extern const char *const log_level_names[];
extern const char *const log_format_names[];

/* Return whether lines of @level are written. Ask before building an expensive line. */
bool log_is_on(enum log_level level);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

/*
 * A rate limit for lines provoked by peers: at most `burst` lines in every LOG_RATE_INTERVAL_MS,
 * the rest is counted. A zeroed struct is ready for use. Each source of noise has a limit of its
 * own, and so hides no lines of others.
 */
struct log_rate {
	unsigned int burst; /* 0: LOG_RATE_BURST */
	uint64_t window_start_ms;
	unsigned int used;
	uint64_t suppressed;
};

#define LOG_RATE_BURST       5
#define LOG_RATE_INTERVAL_MS 10000

/* Log a line unless @rate is exhausted. The last line of an interval announces the suppression, and
 * the first line after suppressed lines gives their number: "… (and 7 more like it)". */
void log_limited(struct log_rate *rate, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Blocking. A new process waits for stderr with every line. A daemon must not: after log_defer(),
 * bytes not taken by stderr are queued, up to LOG_QUEUE_BYTES, and lines beyond this are counted:
 *
 *   log_write ──▶ stderr, without waiting
 *        └──full──▶ queue ──log_flush──▶ stderr … "N lines of the log were lost: …"
 *                     └──full──▶ counted
 */
#define LOG_QUEUE_BYTES (64u << 10)

/* Lines are queued: call log_flush() as soon as log_fd() is writable. Must not log. */
typedef void (*log_wake_function)(void *data);

/* Never block on stderr from now on; @wake reports queued lines. */
void log_defer(log_wake_function wake, void *data);

/* Return the descriptor for lines. */
int log_fd(void);

/* Write queued lines without waiting. Return whether the queue is empty. */
bool log_flush(void);

/* End log_defer(): write queued lines for at most LOG_FINISH_MS, then drop the rest. */
#define LOG_FINISH_MS 200
void log_finish(void);
