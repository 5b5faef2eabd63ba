/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The log: one line per event on stderr.
 *
 *   text   2026-11-22 10:00:00.123 INFO  listening on ws://127.0.0.1:8181/core
 *   json   {"time": "2026-11-22T10:00:00.123Z", "level": "info", "message": "…"}
 *
 * Library code returns errors; the edges log. One failure, one line. Control characters and bytes
 * that are not UTF-8 never reach the line raw: what peers send may stand in it.
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
};

/* Lines below @level are not written. Default: info, text. */
void log_setup(enum log_level level, enum log_format format);

/* Whether a line of @level would be written: ask before building an expensive one. */
bool log_is_on(enum log_level level);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

/*
 * A limited rate for lines that a peer can provoke: at most `burst` of them in every
 * LOG_RATE_INTERVAL_MS, those held back counted. A zeroed struct is ready for use; whoever can make
 * noise has one of its own, so that it drowns nobody else.
 */
struct log_rate {
	unsigned int burst; /* 0: LOG_RATE_BURST */
	uint64_t window_start_ms;
	unsigned int used;
	uint64_t suppressed;
};

#define LOG_RATE_BURST       5
#define LOG_RATE_INTERVAL_MS 10000

/* log_write, held to @rate. The last line that a window has room for says that more are only
 * counted, and the first one after some were held back how many: "… (and 7 more like it)". */
void log_limited(struct log_rate *rate, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * What writing waits for. A new process writes each line as it comes, and waits for who reads it.
 * One that serves others must not: after log_defer(), what stderr does not take at once stays in
 * memory, up to LOG_QUEUE_BYTES, and what does not fit there is counted:
 *
 *   log_write ──▶ stderr, without waiting
 *        └──full──▶ queue ──log_flush──▶ stderr … "N lines of the log were lost: …"
 *                     └──full──▶ counted
 */
#define LOG_QUEUE_BYTES (64u << 10)

/* Lines wait: log_flush() is due as soon as log_fd() can be written to. */
typedef void (*log_wake_function)(void *data);

/* Let no line wait for its reader from now on. @wake must not log. */
void log_defer(log_wake_function wake, void *data);

/* The descriptor that lines are written to. */
int log_fd(void);

/* Write what waits, without waiting. Returns whether nothing is left. */
bool log_flush(void);

/* The end of log_defer(): what waits has LOG_FINISH_MS to be read, and is lost then. */
#define LOG_FINISH_MS 200
void log_finish(void);
