/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/diagnostic.h"
#include "util/log.h"

/*
 * The problems found again by each reading: each is logged once, until a round without it.
 *
 *   round 1   a b      logs a, b
 *   round 2   a b c    logs c
 *   round 3   c
 *   round 4   a c      logs a
 */
struct problems {
	struct log_rate rate; /* at most PROBLEMS_LOGGED lines in LOG_RATE_INTERVAL_MS */
	uint64_t *before;     /* digests of the problems of the round before, sorted */
	size_t n_before;
	uint64_t *found; /* likewise, in this round; in their order */
	size_t n_found;
};

/* Anybody may ask for a reload, but every mistake in a whole folder of toolboxes should be
 * logged. */
#define PROBLEMS_LOGGED 200

/* Log the line @text, unless the round before had it. */
void problems_log(struct problems *problems, enum log_level level, const char *text);

/* Log @diagnostic likewise. @data is a struct problems. */
void problems_log_diagnostic(void *data, const struct diagnostic *diagnostic);

/* End the round: the next one compares with it. */
void problems_end_round(struct problems *problems);

/* Free the memory of @problems. */
void problems_deinit(struct problems *problems);
