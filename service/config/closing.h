/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "json/reader.h"
#include "util/diagnostic.h"

/*
 * The mistakes that close a configuration: the unreadable text may forbid something. A mistake sent
 * to @sink goes on to @outer like every other, and the text of the first is kept.
 */
struct config_closing {
	struct diagnostic_sink sink;
	struct diagnostic_sink outer;
	bool is_closed;
	char *text; /* the first mistake as "FILE:LINE POINTER: text"; NULL without memory */
};

/* Make @closing open. @outer receives every mistake. @closing must not move afterwards. */
void config_closing_init(struct config_closing *closing, const struct diagnostic_sink *outer);

/* Report the formatted text about the file at @path; @line: 0 for the whole of it. */
void config_closing_report(struct config_closing *closing, const char *path, unsigned int line,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Report that the file at @path, of at most @bytes_max, could not be read, by the errno @r. */
void config_closing_report_unreadable(
	struct config_closing *closing, const char *path, unsigned int bytes_max, int r);

/* Report that @text, of the file at @path, is no JSON. */
void config_closing_report_text(struct config_closing *closing, const char *path, const char *text,
	const struct json_error *error);

void config_closing_deinit(struct config_closing *closing);
