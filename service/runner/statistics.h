/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "catalogue/package.h"
#include "util/histogram.h"

/*
 * The figures of the tools of a package. A tool's are made with its first call, since most tools of
 * a large catalogue are never called.
 *
 *   tools of the package    add   divide   get   set …
 *   by_tool                  ●      ○       ○     ●        ○ NULL: never called
 */

/* The bytes of the text of a failure, with its NUL. */
#define STATISTICS_FAILURE_BYTES 200

/* A failure, as statistics keep it. */
struct statistics_failure {
	const char *code;                    /* constant text; NULL: no error */
	int64_t at_ns;                       /* stamp_now_ns() */
	char text[STATISTICS_FAILURE_BYTES]; /* UTF-8; "" for none */
};

/* Figures of one tool, or the sum of several. */
struct statistics {
	uint64_t calls;  /* answered, including refused ones */
	uint64_t errors; /* failed calls */
	struct histogram durations_us;
	struct statistics_failure last_failure;
};

/* Zeroed before use. */
struct tool_statistics {
	struct statistics **by_tool;
	uint32_t n_tools;
};

/* Make room for the tools of @package. Return 0 or -ENOMEM. */
int tool_statistics_init(struct tool_statistics *statistics, const struct package *package);
void tool_statistics_deinit(struct tool_statistics *statistics);

/* Make the figures of the tool with the index @tool, a tool without figures. NULL without
 * memory. */
struct statistics *tool_statistics_make(struct tool_statistics *statistics, uint32_t tool);

/* Return the figures of the tool with the index @tool, to be counted in. NULL without memory: the
 * call is not counted. */
static inline struct statistics *tool_statistics_take(
	struct tool_statistics *statistics, uint32_t tool)
{
	struct statistics *found = statistics->by_tool[tool];

	return found ? found : tool_statistics_make(statistics, tool);
}

/* Return the figures of the tool with the index @tool; NULL if it was never called. */
static inline const struct statistics *tool_statistics_find(
	const struct tool_statistics *statistics, uint32_t tool)
{
	return statistics->by_tool[tool];
}

/* Count a failure with the constant text @code now. @text of @size bytes explains it, and is
 * cut. */
void statistics_note_failure(
	struct statistics *statistics, const char *code, const char *text, size_t size);

/* Add @part (NULL: nothing) to the figures of @sum, whose last failure is the latest of both. */
void statistics_add(struct statistics *sum, const struct statistics *part);
