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

/* The level called @name ("debug", "info", "warning", "error"), or -1. */
int log_level_from_name(const char *name);

/* Whether a line of @level would be written: ask before building an expensive one. */
bool log_is_on(enum log_level level);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)

/*
 * A limited rate for lines that a peer can provoke: at most `burst` of them in every
 * LOG_RATE_INTERVAL_MS. A zeroed struct is ready for use.
 */
struct log_rate {
	unsigned int burst; /* 0: LOG_RATE_BURST */
	uint64_t window_start_ms;
	unsigned int used;
	uint64_t suppressed;
};

#define LOG_RATE_BURST       5
#define LOG_RATE_INTERVAL_MS 10000

/* True when a line may be written at @now_ms; @ret_suppressed then gets how many were held back
 * since the last one. */
bool log_rate_allows(struct log_rate *rate, uint64_t now_ms, uint64_t *ret_suppressed);
