/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/questions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

#define FILE_NAME "toolboxctl"

void questions_deinit(struct questions *questions)
{
	buffer_deinit(&questions->lines);
	free(questions->answers);
	*questions = (struct questions){0};
}

static size_t end_question(struct questions *questions)
{
	/* Whatever newlines a question has, it is at one line. */
	buffer_printf(&questions->lines, "\n#line %zu \"" FILE_NAME "\"\n", questions->n + 2);
	return questions->n++;
}

size_t questions_add(struct questions *questions, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&questions->lines, format, arguments);
	va_end(arguments);
	return end_question(questions);
}

size_t questions_assert(struct questions *questions, const char *format, ...)
{
	va_list arguments;

	buffer_append_string(&questions->lines, "_Static_assert(");
	va_start(arguments, format);
	buffer_vprintf(&questions->lines, format, arguments);
	va_end(arguments);
	buffer_append_string(&questions->lines, ", \"\");");
	return end_question(questions);
}

size_t questions_type(struct questions *questions, const struct c_type *type)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char name[32];
	size_t n = questions->n_types++;

	snprintf(name, sizeof(name), QUESTIONS_TYPE, n);
	c_type_write(type, name, &text);
	buffer_fail_with(&questions->lines, &text);
	questions_add(questions,
		"typedef %.*s; enum { toolboxctl_class_%zu = __builtin_classify_type(*(%s *)0) };",
		(int)text.size, buffer_text(&text), n, name);
	return n;
}

/* Take one line of the compiler's messages: an error at a question, or another error, which is
 * kept in @other. */
static void take_compiler_line(
	struct questions *questions, const char *line, size_t size, struct buffer *other)
{
	const char *rest = line + strlen(FILE_NAME ":");
	char *end;
	unsigned long n;

	if (!memmem(line, size, "error:", strlen("error:")))
		return;
	if (strncmp(line, FILE_NAME ":", strlen(FILE_NAME ":")) == 0) {
		n = strtoul(rest, &end, 10);
		if (*end == ':' && n >= 1 && n <= questions->n) {
			questions->answers[n - 1] = false;
			return;
		}
	}
	if (other->size > 0)
		return;
	buffer_append(other, line, size);
	buffer_append_char(other, '\n');
}

int questions_ask(
	struct questions *questions, const struct compiler *compiler, struct buffer *messages)
{
	cleanup(buffer_deinit) struct buffer source = {0};
	cleanup(buffer_deinit) struct buffer output = {0};
	cleanup(buffer_deinit) struct buffer printed = {0};
	cleanup(buffer_deinit) struct buffer other = {0};
	const char *line;
	int r;

	if (questions->n == 0)
		return 0;
	questions->answers = malloc(questions->n * sizeof(*questions->answers));
	if (!questions->answers)
		return -ENOMEM;
	memset(questions->answers, true, questions->n * sizeof(*questions->answers));
	buffer_append_string(&source, "#line 1 \"" FILE_NAME "\"\n");
	buffer_append_buffer(&source, &questions->lines);
	r = buffer_status(&source);
	r = r ? r
	      : compiler_run(
			compiler, "-fsyntax-only -w -fmax-errors=0", &source, &output, &printed);
	if (r < 0 || r == COMPILER_E_ABSENT) {
		buffer_append_buffer(messages, &printed);
		return r;
	}
	if (!buffer_terminate(&printed))
		return -ENOMEM;
	for (line = printed.data; *line; line += strcspn(line, "\n"), line += *line == '\n')
		take_compiler_line(questions, line, strcspn(line, "\n"), &other);
	if (other.size == 0 && r == COMPILER_E_FAILED && !strstr(printed.data, FILE_NAME ":"))
		buffer_append_buffer(&other, &printed);
	if (other.size == 0)
		return buffer_status(&other);
	buffer_append_buffer(messages, &other);
	return COMPILER_E_FAILED;
}
