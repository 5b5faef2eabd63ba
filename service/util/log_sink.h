/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The lower half of the log: util/log.c forms lines, this writes them to stderr. After log_defer()
 * it never blocks, but queues the bytes not taken by stderr, and counts the lines beyond the
 * queue's room.
 */

/* Write the line of @size bytes at @line, its line feed included, or queue it. */
void log_sink_put(const char *line, size_t size);

/* Write queued lines without waiting. Return whether the queue is empty. */
bool log_sink_flush(void);

/* Return how many lines did not fit into the queue since the last call. */
unsigned long long log_sink_take_lost(void);

/* Wait until stderr can be written to, at most @timeout_ms. */
void log_sink_wait(int timeout_ms);

/* Drop the queue and undo log_defer(). */
void log_sink_reset(void);
