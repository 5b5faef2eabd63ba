/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "schema/schema.h"

void schema_report_deinit(struct schema_report *report)
{
	for (size_t i = 0; i < report->n_violations; i++) {
		free(report->violations[i].path);
		free(report->violations[i].message);
	}
	free(report->summary);
	*report = (struct schema_report){0};
}

int schema_report_add(struct schema_report *report, const char *path, const char *message)
{
	cleanup_free char *path_copy = NULL;
	cleanup_free char *message_copy = NULL;

	if (report->n_violations == SCHEMA_VIOLATIONS_MAX) {
		report->is_cut = true;
		return 0;
	}
	path_copy = strdup(path);
	message_copy = strdup(message);
	if (!path_copy || !message_copy)
		return -ENOMEM;
	report->violations[report->n_violations++] =
		(struct schema_violation){take_ptr(path_copy), take_ptr(message_copy)};
	return 0;
}

/* A path may hold whatever a key does; the text is one line. */
static void write_path(const char *path, struct buffer *out)
{
	for (; *path; path++) {
		if ((unsigned char)*path < 0x20 || *path == 0x7F)
			buffer_printf(out, "\\u%04x", (unsigned int)*path);
		else
			buffer_append_char(out, *path);
	}
	buffer_append_string(out, ": ");
}

static bool ends_with(const struct buffer *text, char character)
{
	return buffer_status(text) == 0 && text->size > 0 &&
	       text->data[text->size - 1] == character;
}

void schema_report_write_text(
	const struct schema_report *report, const char *heading, struct buffer *out)
{
	for (size_t i = 0; i < report->n_violations; i++) {
		const struct schema_violation *violation = &report->violations[i];

		buffer_append_string(out, i > 0 ? "; " : "");
		if (violation->path[0] != '\0')
			write_path(violation->path, out);
		buffer_append_string(out, violation->message);
	}
	if (report->is_cut)
		buffer_append_string(out, "; and more");
	if (report->summary)
		buffer_printf(
			out, "%s %s: %s", ends_with(out, '?') ? "" : ".", heading, report->summary);
}

void schema_report_write_json(const struct schema_report *report, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < report->n_violations; i++) {
		buffer_append_string(out, i > 0 ? ",{" : "{");
		json_write_key(out, "path");
		json_write_text(out, report->violations[i].path);
		buffer_append_char(out, ',');
		json_write_key(out, "message");
		json_write_text(out, report->violations[i].message);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}
