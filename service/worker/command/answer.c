/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/answer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json/writer.h"

/* The output of a failed program may take one part in this many of the answer, and its stderr as
 * much: JSON may need six bytes for one, as in \u001b. */
#define FAILED_PART 16

/* Most bytes of the last line of stderr in the message. */
#define LINE_BYTES_MAX 512

static void begin_error(const char *code, struct buffer *out)
{
	buffer_printf(out, "{\"code\":\"%s\",\"message\":", code);
}

/* Append an error that consists of its message, which may hold bytes that are not UTF-8. */
__attribute__((format(printf, 2, 3))) static int fail(struct buffer *out, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&message, format, arguments);
	va_end(arguments);
	begin_error("tool_failed", out);
	json_write_bytes_lossy(out, message.data, message.size);
	buffer_append_char(out, '}');
	return buffer_status(&message) ? -ENOMEM : DRIVER_E_ERROR;
}

static int write_too_large(size_t actual, size_t max, struct buffer *out)
{
	buffer_printf(out, "{\"code\":\"too_large\",\"actual\":%zu,\"max\":%zu}", actual, max);
	return DRIVER_E_ERROR;
}

/* ── failures ────────────────────────────────────────────────────────────────────────────────── */

/* Return the last line of @text that is not blank. */
static const char *find_last_line(const char *text, size_t size, size_t *ret_size)
{
	const char *newline;

	while (size > 0 && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
		size--;
	newline = size > 0 ? memrchr(text, '\n', size) : NULL;
	*ret_size = newline ? (size_t)(text + size - newline - 1) : size;
	return newline ? newline + 1 : text;
}

/* Append a message such as "exited with status 2: ls: cannot access 'x'". */
static void write_message(const struct command_run *run, struct buffer *message)
{
	size_t size;
	const char *text = command_run_errors(run, &size);

	if (WIFSIGNALED(run->status))
		buffer_printf(message, "the program was killed by SIG%s",
			sigabbrev_np(WTERMSIG(run->status)) ? sigabbrev_np(WTERMSIG(run->status))
							    : "?");
	else
		buffer_printf(
			message, "the program exited with status %d", WEXITSTATUS(run->status));
	text = find_last_line(text, size, &size);
	if (size > 0) {
		buffer_append_string(message, ": ");
		buffer_append(message, text, size < LINE_BYTES_MAX ? size : LINE_BYTES_MAX);
	}
}

static void write_end(int status, struct buffer *out)
{
	if (!WIFSIGNALED(status))
		buffer_printf(out, ",\"exit_code\":%d", WEXITSTATUS(status));
	else if (sigabbrev_np(WTERMSIG(status)))
		buffer_printf(out, ",\"signal\":\"SIG%s\"", sigabbrev_np(WTERMSIG(status)));
	else
		buffer_printf(out, ",\"signal\":\"SIG%d\"", WTERMSIG(status));
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int write_failed(const struct command_run *run, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	size_t most = run->output_max / FAILED_PART;
	size_t errors_size;
	const char *errors = command_run_errors(run, &errors_size);
	size_t kept = smaller(errors_size, most);

	write_message(run, &message);
	begin_error("tool_failed", out);
	json_write_bytes_lossy(out, message.data, message.size);
	write_end(run->status, out);
	buffer_append_string(out, ",\"stderr\":");
	json_write_bytes_lossy(out, errors + errors_size - kept, kept);
	buffer_append_string(out, ",\"output\":");
	json_write_bytes_lossy(out, run->output.data, smaller(run->output.size, most));
	buffer_append_char(out, '}');
	return buffer_status(&message) ? -ENOMEM : DRIVER_E_ERROR;
}

int command_answer_not_started(
	const struct command *command, const char *program, int error, struct buffer *out)
{
	if (command->cwd && access(command->cwd, X_OK) < 0)
		return fail(out, "the folder to run in, '%s', cannot be entered: %s", command->cwd,
			strerror(errno));
	if (error == -ENOENT && !strchr(program, '/'))
		return fail(out,
			"the program '%s' is in none of the folders of PATH; install it, or give "
			"its path",
			program);
	if (error == -ENOENT)
		return fail(out,
			"the program '%s' cannot be run: it does not exist, or the interpreter of "
			"its '#!' line does not",
			program);
	if (error == -EACCES)
		return fail(out, "the program '%s' cannot be run: %s (chmod +x?)", program,
			strerror(EACCES));
	if (error == -ENOEXEC)
		return fail(out,
			"the program '%s' cannot be run: %s (a script begins with a line like "
			"#!/bin/sh)",
			program, strerror(ENOEXEC));
	if (error == -E2BIG)
		return fail(out,
			"the program '%s' cannot be run: its arguments together are too long; it "
			"could read them from stdin",
			program);
	return fail(out, "the program '%s' cannot be run: %s", program, strerror(-error));
}

int command_answer_refused(
	const struct json_tape *tape, uint32_t key, const char *message, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer pointer = {0};

	json_string_decode(tape, key, &name);
	json_pointer_append(&pointer, name.data, name.size);
	buffer_append_string(out, "{\"code\":\"invalid_arguments\",\"violations\":[{\"path\":");
	json_write_string(out, pointer.data, pointer.size);
	buffer_append_string(out, ",\"message\":");
	json_write_text(out, message);
	buffer_append_string(out, "}]}");
	return buffer_status(&name) || buffer_status(&pointer) ? -ENOMEM : DRIVER_E_ERROR;
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

static void write_text_output(const struct buffer *output, struct buffer *out)
{
	size_t size = output->size;

	while (size > 0 && output->data[size - 1] == '\n')
		size--;
	buffer_append_string(out, "{\"output\":");
	json_write_bytes_lossy(out, output->data, size);
	buffer_append_char(out, '}');
}

/* Append the value on stdout as an object. It may have one level less than JSON from the bus,
 * because a value that is not an object gets one around it. */
static int write_json_output(
	const struct buffer *output, struct json_tape *tape, struct buffer *out)
{
	struct json_error error;
	bool is_object;
	int r = json_tape_read(tape, output->data ? output->data : "", output->size,
		JSON_DEPTH_DEFAULT - 1, &error);

	if (r < 0)
		return r;
	if (r > 0)
		return fail(out, "the program's stdout must be one JSON value: at byte %zu: %s",
			error.offset, error.message);
	is_object = json_type_at(tape, 0) == JSON_OBJECT;
	buffer_append_string(out, is_object ? "" : "{\"output\":");
	json_write_compact(out, tape, 0);
	buffer_append_string(out, is_object ? "" : "}");
	return 0;
}

int command_answer(const struct command *command, const struct command_run *run,
	struct json_tape *tape, struct buffer *out)
{
	size_t start = out->size;
	size_t size;
	int r = 0;

	if (run->is_too_large)
		return write_too_large(run->output.size, run->output_max, out);
	if (buffer_status(&run->output) || buffer_status(&run->errors))
		return -ENOMEM;
	if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) != 0)
		return write_failed(run, out);
	if (command->output == COMMAND_TEXT)
		write_text_output(&run->output, out);
	else
		r = write_json_output(&run->output, tape, out);
	size = out->size - start;
	if (r != 0 || buffer_status(out) || size <= run->output_max)
		return r;
	/* The JSON text of the output is too long. */
	out->size = start;
	return write_too_large(size, run->output_max, out);
}
