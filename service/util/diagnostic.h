/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * A diagnostic: something is wrong in a file, a variable or a flag, and a person can mend it.
 *
 * Every reader of texts by people reports in this form, so the log, the standard error stream and
 * the answers on the bus show one format. An engine may keep a cheaper form inside (a token, a
 * pointer into a text) and make the diagnostic at its edge.
 */

enum diagnostic_severity {
	DIAGNOSTIC_WARNING,
	DIAGNOSTIC_ERROR,
};

struct diagnostic {
	enum diagnostic_severity severity;
	const char *file;    /* NULL: none; @pointer is then the name of a variable, flag or key */
	unsigned int line;   /* from 1; 0: unknown */
	const char *pointer; /* JSON Pointer; "" or NULL: the whole file */
	const char *text;    /* one line */
};

/* Receive one diagnostic. It is valid until the function returns. */
typedef void (*diagnostic_function)(void *data, const struct diagnostic *diagnostic);

/* A diagnostic_function with its data; NULL ignores the diagnostics. */
struct diagnostic_sink {
	diagnostic_function function;
	void *data;
};

/* Send a diagnostic with the formatted text to @sink. @file and @pointer may be NULL. The text is
 * "out of memory" when there is no memory for it. */
void diagnostic_report(const struct diagnostic_sink *sink, enum diagnostic_severity severity,
	const char *file, unsigned int line, const char *pointer, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void diagnostic_vreport(const struct diagnostic_sink *sink, enum diagnostic_severity severity,
	const char *file, unsigned int line, const char *pointer, const char *format,
	va_list arguments) __attribute__((format(printf, 6, 0)));

/* Return "warning" or "error". */
const char *diagnostic_severity_name(enum diagnostic_severity severity);

/* Append `FILE:LINE POINTER: text`, without the unknown parts. */
void diagnostic_write(const struct diagnostic *diagnostic, struct buffer *out);

/* How many diagnostics of each severity there were. */
struct diagnostic_counts {
	unsigned int n_errors;
	unsigned int n_warnings;
};

void diagnostic_count(struct diagnostic_counts *counts, const struct diagnostic *diagnostic);

/* Append `2 errors, 1 warning`. */
void diagnostic_counts_write(const struct diagnostic_counts *counts, struct buffer *out);

/* Print @diagnostic to stderr as `error|warning FILE:LINE POINTER: text`, made visible, and on a
 * terminal broken between words (util/text/wrap.h). @data is a struct diagnostic_counts. */
void diagnostic_print(void *data, const struct diagnostic *diagnostic);

/* A bounded list of the diagnostics about one file, their owner. Zeroed it is empty. Without room,
 * an error takes the place of the last warning. */
#define DIAGNOSTICS_MAX 32
struct diagnostics {
	struct diagnostic items[DIAGNOSTICS_MAX]; /* their file is NULL */
	size_t n_items;
	size_t n_errors; /* including those without room */
};

void diagnostics_deinit(struct diagnostics *diagnostics);

/* Return whether there is room for one more of this severity. */
bool diagnostics_have_room(
	const struct diagnostics *diagnostics, enum diagnostic_severity severity);

/* Add one with a copy of @pointer and the formatted text. The same text about the same place is
 * added once. Without memory it is only counted; so it is when @pointer is NULL. */
void diagnostics_add(struct diagnostics *diagnostics, enum diagnostic_severity severity,
	unsigned int line, const char *pointer, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void diagnostics_vadd(struct diagnostics *diagnostics, enum diagnostic_severity severity,
	unsigned int line, const char *pointer, const char *format, va_list arguments)
	__attribute__((format(printf, 5, 0)));

/* Append the first error as one line, `FILE:LINE POINTER: text (and N more)`. */
void diagnostics_write_first(
	const struct diagnostics *diagnostics, const char *file, struct buffer *out);
