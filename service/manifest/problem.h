/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * What is wrong with a manifest, for its author: file, line where it can be told, JSON Pointer, and
 * what was expected.
 */

enum problem_severity {
	PROBLEM_WARNING,
	PROBLEM_ERROR,
};

struct problem {
	enum problem_severity severity;
	unsigned int line; /* from 1; 0: unknown */
	char *pointer;     /* JSON Pointer, "" for the whole file */
	char *text;        /* one line */
};

#define PROBLEMS_MAX 32

/* Zeroed before use. What does not fit is counted. */
struct problems {
	struct problem items[PROBLEMS_MAX];
	size_t n_items;
	size_t n_errors; /* those that did not fit, too */
};

void problems_deinit(struct problems *problems);

/* Note a problem at token @token of @tape (tape NULL: no place in the file). */
void problems_add(struct problems *problems, enum problem_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Note as an error that the value at @token is not what was @expected ("must be …"): that, and what
 * came. */
void problems_add_found(struct problems *problems, const struct json_tape *tape, uint32_t token,
	const char *expected);

/* As problems_add, for a place that is told by its @pointer; its line is looked up in @tape. */
void problems_add_at(struct problems *problems, enum problem_severity severity,
	const struct json_tape *tape, const char *pointer, const char *text);

/* As problems_add, for a place that was found out elsewhere: its @line (0: unknown) and @pointer.
 */
void problems_add_line(struct problems *problems, enum problem_severity severity, unsigned int line,
	const char *pointer, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Append the first error as one line, `FILE:LINE POINTER: text`, and how many more there are. */
void problems_write_first(const struct problems *problems, const char *file, struct buffer *out);
