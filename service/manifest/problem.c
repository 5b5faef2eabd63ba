/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/problem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"
#include "schema/describe.h"
#include "util/cleanup.h"

void problems_deinit(struct problems *problems)
{
	for (size_t i = 0; i < problems->n_items; i++) {
		free(problems->items[i].pointer);
		free(problems->items[i].text);
	}
	*problems = (struct problems){0};
}

/* Count a problem; whether there is room to tell it. Where there is none its place is not looked
 * for either, which would cost a walk through the whole file for each of thousands. An error takes
 * the last warning's: what has failed says why. */
static bool count(struct problems *problems, enum problem_severity severity)
{
	struct problem *last = &problems->items[PROBLEMS_MAX - 1];

	problems->n_errors += severity == PROBLEM_ERROR;
	if (severity == PROBLEM_ERROR && problems->n_items == PROBLEMS_MAX &&
		last->severity == PROBLEM_WARNING) {
		free(last->pointer);
		free(last->text);
		problems->n_items--;
	}
	return problems->n_items < PROBLEMS_MAX;
}

/* Whether the same was told of this place. */
static bool is_told(const struct problems *problems, const char *pointer, const char *text)
{
	for (size_t i = 0; i < problems->n_items; i++)
		if (strcmp(problems->items[i].pointer, pointer) == 0 &&
			strcmp(problems->items[i].text, text) == 0)
			return true;
	return false;
}

/* Takes @pointer and @text over, which are NULL when memory ran out. What every tool of a toolbox
 * finds in a place that is theirs together is told once. */
static void add(struct problems *problems, enum problem_severity severity, unsigned int line,
	char *pointer, char *text)
{
	cleanup_free char *owned_pointer = pointer;
	cleanup_free char *owned_text = text;

	if (!pointer || !text)
		return;
	if (is_told(problems, pointer, text)) {
		problems->n_errors -= severity == PROBLEM_ERROR;
		return;
	}
	problems->items[problems->n_items++] = (struct problem){
		.severity = severity,
		.line = line,
		.pointer = take_ptr(owned_pointer),
		.text = take_ptr(owned_text),
	};
}

static unsigned int line_of(const struct json_tape *tape, uint32_t token)
{
	unsigned int line;
	unsigned int column;

	json_locate(tape->text, json_at(tape, token)->offset, &line, &column);
	return line;
}

static char *format_text(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

static char *format_text(const char *format, va_list arguments)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_vprintf(&text, format, arguments);
	return buffer_take(&text, NULL);
}

void problems_add(struct problems *problems, enum problem_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	va_list arguments;
	char *text;

	if (!count(problems, severity))
		return;
	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	if (tape)
		json_pointer_write(tape, token, &pointer);
	add(problems, severity, tape ? line_of(tape, token) : 0, buffer_take(&pointer, NULL), text);
}

void problems_add_found(struct problems *problems, const struct json_tape *tape, uint32_t token,
	const char *expected)
{
	cleanup(buffer_deinit) struct buffer found = {0};

	describe_value(tape, token, &found);
	problems_add(problems, PROBLEM_ERROR, tape, token, "%s; came: %s", expected,
		buffer_terminate(&found) ? found.data : "?");
}

void problems_add_at(struct problems *problems, enum problem_severity severity,
	const struct json_tape *tape, const char *pointer, const char *text)
{
	if (count(problems, severity))
		add(problems, severity, line_of(tape, json_pointer_nearest(tape, pointer)),
			strdup(pointer), strdup(text));
}

void problems_add_line(struct problems *problems, enum problem_severity severity, unsigned int line,
	const char *pointer, const char *format, ...)
{
	va_list arguments;
	char *text;

	if (!count(problems, severity))
		return;
	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	add(problems, severity, line, strdup(pointer), text);
}

static const struct problem *first_error(const struct problems *problems)
{
	for (size_t i = 0; i < problems->n_items; i++)
		if (problems->items[i].severity == PROBLEM_ERROR)
			return &problems->items[i];
	return NULL;
}

void problems_write_first(const struct problems *problems, const char *file, struct buffer *out)
{
	const struct problem *problem = first_error(problems);

	buffer_append_string(out, file);
	if (!problem) {
		buffer_append_string(out, ": cannot be loaded");
		return;
	}
	if (problem->line)
		buffer_printf(out, ":%u", problem->line);
	if (*problem->pointer)
		buffer_printf(out, " %s", problem->pointer);
	buffer_printf(out, ": %s", problem->text);
	if (problems->n_errors > 1)
		buffer_printf(out, " (and %zu more)", problems->n_errors - 1);
}
