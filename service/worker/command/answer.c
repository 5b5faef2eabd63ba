/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/answer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json/scan.h"
#include "json/surrogates.h"
#include "json/writer.h"
#include "util/sequences.h"
#include "util/text/text.h"
#include "util/text/text_view.h"
#include "util/text/utf8.h"

/* The output of a failed program may take one part in this many of the answer, and its stderr as
 * much: JSON may need six bytes for one, as in \u001b. */
#define FAILED_PART 16

/* The most lines of the program's output in the message, and the most bytes of these lines. */
#define LINES_MAX       32
#define LINES_BYTES_MAX 500

static void begin_error(const char *code, struct buffer *out)
{
	buffer_printf(out, "{\"code\":\"%s\",\"message\":", code);
}

/* Append an error made of its message, of any bytes. */
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

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Return how many of the @size bytes at @text are left without the line ends at their end. */
static size_t trim_line_ends(const char *text, size_t size)
{
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	return size;
}

/* Take the last line of the @text of *size bytes, without what is blank at its end, off it. */
static struct text_view take_last_line(const char *text, size_t *size)
{
	size_t end = *size;
	const char *newline = memrchr(text, '\n', end);
	size_t start = newline ? (size_t)(newline - text) + 1 : 0;

	*size = newline ? start - 1 : 0;
	while (end > start && strchr(" \t\r", text[end - 1]) && text[end - 1])
		end--;
	return (struct text_view){text + start, end - start};
}

/* Append as many of the last lines of @text as fit, without blank lines and the frames of a stack
 * trace, which would push its reason out. A last line too long is cut. Return whether there is a
 * line. */
static bool append_last_lines(struct buffer *out, const char *text, size_t size)
{
	struct text_view lines[LINES_MAX];
	size_t room = LINES_BYTES_MAX;
	size_t n = 0;

	while (size > 0 && n < LINES_MAX) {
		struct text_view line = take_last_line(text, &size);

		if (line.size == 0 || text_is_stack_frame(line.text, line.size))
			continue;
		if (n > 0 && line.size + 1 > room)
			break;
		line.size = smaller(line.size, room);
		room -= smaller(line.size + 1, room);
		lines[n++] = line;
	}
	for (size_t i = n; i > 0; i--) {
		buffer_append_string(out, i == n ? ": " : "\n");
		buffer_append(out, lines[i - 1].text, lines[i - 1].size);
	}
	return n > 0;
}

/* Append a message such as "exited with status 2: ls: cannot access 'x'", with what the program
 * printed last. */
static void write_message(const struct command_run *run, struct buffer *message)
{
	const struct buffer *output = &run->output;
	size_t size;
	const char *errors = command_run_errors(run, &size);

	if (WIFSIGNALED(run->status))
		buffer_printf(message, "the program was killed by SIG%s",
			sigabbrev_np(WTERMSIG(run->status)) ? sigabbrev_np(WTERMSIG(run->status))
							    : "?");
	else
		buffer_printf(
			message, "the program exited with status %d", WEXITSTATUS(run->status));
	if (!append_last_lines(message, errors, size) &&
		!append_last_lines(message, buffer_text(output), output->size))
		buffer_append_string(message, " and printed nothing");
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

/* Append the beginning of what the program printed as a member. */
static void write_output_member(const struct command_run *run, struct buffer *out)
{
	const struct buffer *output = &run->output;

	buffer_append_string(out, ",\"output\":");
	json_write_bytes_lossy(out, output->data,
		smaller(trim_line_ends(output->data, output->size), run->output_max / FAILED_PART));
}

/* Remove the escape sequences of terminals from @text. */
static void make_plain(struct buffer *text)
{
	text->size = sequences_remove(text->data, text->size);
}

static int write_failed(struct command_run *run, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	const char *errors;
	size_t errors_size, kept;

	make_plain(&run->output);
	make_plain(&run->errors);
	errors = command_run_errors(run, &errors_size);
	kept = smaller(errors_size, run->output_max / FAILED_PART);
	write_message(run, &message);
	begin_error("tool_failed", out);
	json_write_bytes_lossy(out, message.data, message.size);
	write_end(run->status, out);
	buffer_append_string(out, ",\"stderr\":");
	json_write_bytes_lossy(out, errors + errors_size - kept, kept);
	write_output_member(run, out);
	buffer_append_char(out, '}');
	return buffer_status(&message) ? -ENOMEM : DRIVER_E_ERROR;
}

int command_answer_changed(struct buffer *out)
{
	begin_error("unavailable", out);
	json_write_text(out, "its program has changed since the call was accepted; call it again");
	buffer_append_char(out, '}');
	return DRIVER_E_ERROR;
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
	json_write_member_text(out, "message", message);
	buffer_append_string(out, "}]}");
	return buffer_status(&name) || buffer_status(&pointer) ? -ENOMEM : DRIVER_E_ERROR;
}

/* ── results ─────────────────────────────────────────────────────────────────────────────────── */

/* Return what the program printed, without a byte order mark. */
static struct text_view printed_text(const struct command_run *run)
{
	static const char mark[] = "\xEF\xBB\xBF";
	const char *text = buffer_text(&run->output);
	size_t size = run->output.size;
	size_t skipped =
		size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;

	return (struct text_view){text + skipped, size - skipped};
}

static void write_text_output(struct text_view printed, struct buffer *out)
{
	buffer_append_string(out, "{\"output\":");
	json_write_bytes_lossy(out, printed.text, trim_line_ends(printed.text, printed.size));
	buffer_append_char(out, '}');
}

/* Append the value in @printed as an object. It may have one level less than JSON from the bus,
 * because other values get an object around them. Return 0, -ENOMEM, or an enum json_status. */
static int write_json_output(struct text_view printed, struct json_tape *tape, struct buffer *out,
	struct json_error *ret_error)
{
	bool is_object;
	int r = json_tape_read(tape, printed.text, printed.size, JSON_DEPTH_DEFAULT - 1, ret_error);

	if (r != 0)
		return r;
	is_object = json_type_at(tape, 0) == JSON_OBJECT;
	buffer_append_string(out, is_object ? "" : "{\"output\":");
	json_write_compact(out, tape, 0);
	buffer_append_string(out, is_object ? "" : "}");
	return 0;
}

/* Append the sequence of values in @printed as an array. Returns as write_json_output(). */
static int write_json_values(struct text_view printed, struct json_tape *tape, struct buffer *out,
	struct json_error *ret_error)
{
	size_t at = json_scan_space(printed.text, printed.size, 0);

	buffer_append_string(out, "{\"output\":[");
	for (bool is_first = true; at < printed.size; is_first = false) {
		size_t end = json_scan_value(printed.text, printed.size, at);
		int r = json_tape_read(tape, printed.text + at, (end ? end : printed.size) - at,
			JSON_DEPTH_DEFAULT - 2, ret_error);

		if (r != 0) {
			ret_error->offset += at;
			return r;
		}
		buffer_append_string(out, is_first ? "" : ",");
		json_write_compact(out, tape, 0);
		at = json_scan_space(printed.text, printed.size, end ? end : printed.size);
	}
	buffer_append_string(out, "]}");
	return 0;
}

/* Append what @printed comes to. Returns as write_json_output(). */
static int write_parsed(const struct command *command, struct text_view printed,
	struct json_tape *tape, struct buffer *out, struct json_error *ret_error)
{
	size_t start = out->size;
	int r;

	if (command->output == COMMAND_JSON_LINES) {
		r = write_json_values(printed, tape, out, ret_error);
		out->size = r == 0 ? out->size : start;
		return r;
	}
	/* A program that finds nothing prints nothing. */
	if (command->output == COMMAND_JSON &&
		json_scan_space(printed.text, printed.size, 0) == printed.size)
		printed = TEXT_VIEW("null");
	return write_json_output(printed, tape, out, ret_error);
}

static int refuse_output(const struct command *command, const struct command_run *run,
	const struct json_error *error, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	buffer_printf(&message, "the program's stdout must be %s: at byte %zu: %s",
		command->output == COMMAND_JSON_LINES
			? "JSON values, one after the other"
			: "one JSON value (\"json_lines\" takes several)",
		error->offset, error->message);
	begin_error("tool_failed", out);
	json_write_bytes_lossy(out, message.data, message.size);
	write_output_member(run, out);
	buffer_append_char(out, '}');
	return buffer_status(&message) ? -ENOMEM : DRIVER_E_ERROR;
}

/* Append @printed with U+FFFD for each byte other than UTF-8, and for each half of a surrogate
 * pair. */
static void mend(struct text_view printed, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer valid = {0};

	utf8_repair(printed.text, printed.size, &valid);
	if (buffer_status(&valid) || !json_mend_surrogates(valid.data, valid.size, out))
		buffer_append_buffer(out, &valid);
}

/* Append the result printed by the program as JSON. */
static int write_values_output(const struct command *command, const struct command_run *run,
	struct json_tape *tape, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer mended = {0};
	struct text_view printed = printed_text(run);
	struct json_error error;
	int r = write_parsed(command, printed, tape, out, &error);

	if (r == JSON_E_UTF8 || r == JSON_E_SURROGATE) {
		mend(printed, &mended);
		if (buffer_status(&mended))
			return -ENOMEM;
		printed = (struct text_view){mended.data, mended.size};
		r = write_parsed(command, printed, tape, out, &error);
	}
	return r > 0 ? refuse_output(command, run, &error, out) : r;
}

int command_answer(const struct command *command, struct command_run *run, struct json_tape *tape,
	struct buffer *out)
{
	size_t start = out->size;
	size_t size;
	int r = 0;

	if (run->is_too_large)
		return write_too_large(run->output.size, run->output_max, out);
	if (buffer_status(&run->output) || buffer_status(&run->errors))
		return -ENOMEM;
	if (!WIFEXITED(run->status) ||
		!command_set_has(&command->success, (size_t)WEXITSTATUS(run->status)))
		return write_failed(run, out);
	if (command->output == COMMAND_TEXT) {
		make_plain(&run->output);
		write_text_output(printed_text(run), out);
	} else {
		r = write_values_output(command, run, tape, out);
	}
	size = out->size - start;
	if (r != 0 || buffer_status(out) || size <= run->output_max)
		return r;
	/* The JSON text of the output is too long. */
	out->size = start;
	return write_too_large(size, run->output_max, out);
}
