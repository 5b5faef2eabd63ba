/* SPDX-License-Identifier: Apache-2.0 */
#include "util/diagnostic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/text/visible.h"
#include "util/text/wrap.h"

#define INDENT 2

void diagnostic_report(const struct diagnostic_sink *sink, enum diagnostic_severity severity,
	const char *file, unsigned int line, const char *pointer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diagnostic_vreport(sink, severity, file, line, pointer, format, arguments);
	va_end(arguments);
}

void diagnostic_vreport(const struct diagnostic_sink *sink, enum diagnostic_severity severity,
	const char *file, unsigned int line, const char *pointer, const char *format,
	va_list arguments)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct diagnostic diagnostic = {severity, file, line, pointer, "out of memory"};

	if (!sink->function)
		return;
	buffer_vprintf(&text, format, arguments);
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

void diagnostic_count(struct diagnostic_counts *counts, const struct diagnostic *diagnostic)
{
	if (diagnostic->severity == DIAGNOSTIC_ERROR)
		counts->n_errors++;
	else
		counts->n_warnings++;
}

void diagnostic_counts_write(const struct diagnostic_counts *counts, struct buffer *out)
{
	buffer_printf(out, "%u error%s, %u warning%s", counts->n_errors,
		counts->n_errors == 1 ? "" : "s", counts->n_warnings,
		counts->n_warnings == 1 ? "" : "s");
}

void diagnostic_print(void *data, const struct diagnostic *diagnostic)
{
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer wrapped = {0};
	size_t width = wrap_columns(STDERR_FILENO);

	diagnostic_count(data, diagnostic);
	diagnostic_write(diagnostic, &out);
	buffer_printf(&line, "%s ", diagnostic_severity_name(diagnostic->severity));
	visible_append(&line, buffer_text(&out), out.size);
	line.error = line.error ? line.error : out.error;
	if (buffer_status(&line) == 0)
		wrap_append(&wrapped, line.data, line.size, width,
			width > INDENT ? width - INDENT : 0, INDENT);
	fprintf(stderr, "%s\n", buffer_terminate(&wrapped) ? wrapped.data : "out of memory");
}

static void diagnostic_free(const struct diagnostic *diagnostic)
{
	free((char *)diagnostic->pointer);
	free((char *)diagnostic->text);
}

void diagnostics_deinit(struct diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->n_items; i++)
		diagnostic_free(&diagnostics->items[i]);
	*diagnostics = (struct diagnostics){0};
}

bool diagnostics_have_room(const struct diagnostics *diagnostics, enum diagnostic_severity severity)
{
	return diagnostics->n_items < DIAGNOSTICS_MAX ||
	       (severity == DIAGNOSTIC_ERROR &&
		       diagnostics->items[DIAGNOSTICS_MAX - 1].severity == DIAGNOSTIC_WARNING);
}

static bool has_same(const struct diagnostics *diagnostics, const char *pointer, const char *text)
{
	for (size_t i = 0; i < diagnostics->n_items; i++)
		if (strcmp(diagnostics->items[i].pointer, pointer) == 0 &&
			strcmp(diagnostics->items[i].text, text) == 0)
			return true;
	return false;
}

void diagnostics_vadd(struct diagnostics *diagnostics, enum diagnostic_severity severity,
	unsigned int line, const char *pointer, const char *format, va_list arguments)
{
	cleanup_free char *own_pointer = NULL;
	cleanup_free char *text = NULL;

	diagnostics->n_errors += severity == DIAGNOSTIC_ERROR;
	if (!diagnostics_have_room(diagnostics, severity))
		return;
	own_pointer = pointer ? strdup(pointer) : NULL;
	if (!own_pointer || vasprintf(&text, format, arguments) < 0)
		return;
	if (has_same(diagnostics, pointer, text)) {
		diagnostics->n_errors -= severity == DIAGNOSTIC_ERROR;
		return;
	}
	if (diagnostics->n_items == DIAGNOSTICS_MAX)
		diagnostic_free(&diagnostics->items[--diagnostics->n_items]);
	diagnostics->items[diagnostics->n_items++] = (struct diagnostic){
		.severity = severity,
		.line = line,
		.pointer = take_ptr(own_pointer),
		.text = take_ptr(text),
	};
}

void diagnostics_add(struct diagnostics *diagnostics, enum diagnostic_severity severity,
	unsigned int line, const char *pointer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diagnostics_vadd(diagnostics, severity, line, pointer, format, arguments);
	va_end(arguments);
}

void diagnostics_write_first(
	const struct diagnostics *diagnostics, const char *file, struct buffer *out)
{
	struct diagnostic first = {.file = file, .text = "cannot be loaded"};

	for (size_t i = diagnostics->n_items; i-- > 0;)
		if (diagnostics->items[i].severity == DIAGNOSTIC_ERROR)
			first = diagnostics->items[i];
	first.file = file;
	diagnostic_write(&first, out);
	if (first.pointer && diagnostics->n_errors > 1)
		buffer_printf(out, " (and %zu more)", diagnostics->n_errors - 1);
}
