/* SPDX-License-Identifier: Apache-2.0 */
#include "util/diagnostic.h"

#include <stdbool.h>
#include <stdio.h>

#include "util/cleanup.h"
#include "util/log.h"

void diagnostic_report(const struct diagnostic_sink *sink, enum diagnostic_severity severity,
	const char *file, unsigned int line, const char *pointer, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct diagnostic diagnostic = {severity, file, line, pointer, "out of memory"};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	/* Without memory for the text, the place is still worth a report. */
	if (buffer_terminate(&text))
		diagnostic.text = text.data;
	sink->function(sink->data, &diagnostic);
}

const char *diagnostic_severity_name(enum diagnostic_severity severity)
{
	return severity == DIAGNOSTIC_ERROR ? "error" : "warning";
}

void diagnostic_write(const struct diagnostic *diagnostic, struct buffer *out)
{
	const char *file = diagnostic->file;
	bool has_pointer = diagnostic->pointer && *diagnostic->pointer;

	if (file)
		buffer_append_string(out, file);
	if (file && diagnostic->line)
		buffer_printf(out, ":%u", diagnostic->line);
	if (has_pointer)
		buffer_printf(out, "%s%s", file ? " " : "", diagnostic->pointer);
	buffer_printf(out, "%s%s", file || has_pointer ? ": " : "", diagnostic->text);
}

void diagnostic_log(void *data, const struct diagnostic *diagnostic)
{
	enum log_level level =
		diagnostic->severity == DIAGNOSTIC_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING;
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *text = diagnostic->text;

	diagnostic_write(diagnostic, &out);
	if (buffer_terminate(&out))
		text = out.data;
	if (data)
		log_limited(data, level, "%s", text);
	else
		log_write(level, "%s", text);
}

void diagnostic_print(void *data, const struct diagnostic *diagnostic)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	unsigned int *n_errors = data;

	*n_errors += diagnostic->severity == DIAGNOSTIC_ERROR;
	diagnostic_write(diagnostic, &out);
	fprintf(stderr, "%s %s\n", diagnostic_severity_name(diagnostic->severity),
		buffer_terminate(&out) ? out.data : diagnostic->text);
}
