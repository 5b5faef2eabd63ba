/* SPDX-License-Identifier: Apache-2.0 */
#include "json/diagnose.h"

#include "json/pointer.h"

static unsigned int line_of(const struct json_tape *tape, uint32_t token)
{
	unsigned int line;
	unsigned int column;

	json_locate(tape->text, json_at(tape, token)->offset, &line, &column);
	return line;
}

/* A list without room only counts, so the place is not looked up: a lookup walks through the whole
 * file, for each of thousands of mistakes. */
void diagnose_with(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, va_list arguments)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	unsigned int line = 0;

	if (diagnostics_have_room(problems, severity)) {
		json_pointer_write(tape, token, &pointer);
		line = line_of(tape, token);
	}
	diagnostics_vadd(problems, severity, line, buffer_terminate(&pointer), format, arguments);
}

void diagnose(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, uint32_t token, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diagnose_with(problems, severity, tape, token, format, arguments);
	va_end(arguments);
}

void diagnose_at(struct diagnostics *problems, enum diagnostic_severity severity,
	const struct json_tape *tape, const char *pointer, const char *text)
{
	unsigned int line = 0;

	if (diagnostics_have_room(problems, severity))
		line = line_of(tape, json_pointer_nearest(tape, pointer));
	diagnostics_add(problems, severity, line, pointer, "%s", text);
}
