/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command/progress.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "json/number.h"
#include "util/clock.h"
#include "util/file/file.h"
#include "worker/progress.h"
#include "worker/send.h"

/* Log the first ignored line of a call. */
static void report_bad_line(struct command_progress *progress)
{
	static const char line[] =
		"progress: ignored a line that is not {\"progress\": NUMBER, \"text\": STRING}\n";

	if (!progress->has_complained)
		file_write_all(STDERR_FILENO, line, sizeof(line) - 1);
	progress->has_complained = true;
}

static void report_progress(
	struct command_progress *progress, double value, const struct buffer *text)
{
	if (!pace_take(&progress->pace, clock_now_ms()))
		return;
	buffer_reset(&progress->frame);
	progress_append(&progress->frame, progress->id, value, text->size > 0 ? text->data : NULL,
		text->size);
	/* The worker writes nothing while a call is open, so this may use the wire. The loss of the
	 * daemon is noticed when the answer is sent. */
	(void)send_frame(progress->wire, &progress->frame);
}

/* Return whether the value at @at, if there is one, is null or of @type. */
static bool may_be(const struct json_tape *tape, uint32_t at, enum json_type type)
{
	return at == JSON_NONE || json_type_at(tape, at) == type ||
	       json_type_at(tape, at) == JSON_NULL;
}

static void take_line(struct command_progress *progress, const char *line, size_t size)
{
	const struct json_tape *tape = &progress->tape;
	cleanup(buffer_deinit) struct buffer decoded = {0};
	uint32_t number, text;
	double value = NAN;

	if (json_tape_read(&progress->tape, line, size, JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_type_at(tape, 0) != JSON_OBJECT) {
		report_bad_line(progress);
		return;
	}
	number = json_find(tape, 0, "progress");
	text = json_find(tape, 0, "text");
	if (!may_be(tape, number, JSON_NUMBER) || !may_be(tape, text, JSON_STRING) ||
		(number == JSON_NONE && text == JSON_NONE)) {
		report_bad_line(progress);
		return;
	}
	if (number != JSON_NONE && json_type_at(tape, number) == JSON_NUMBER &&
		json_number_f64(tape, number, &value) != 0)
		value = NAN;
	if (text != JSON_NONE && json_type_at(tape, text) == JSON_STRING)
		json_string_decode(tape, text, &decoded);
	report_progress(progress, value, &decoded);
}

/* Keep a part of a line, unless the line is too long. */
static void keep_part(struct command_progress *progress, const char *bytes, size_t size)
{
	if (progress->is_skipping)
		return;
	if (progress->line.size + size <= COMMAND_PROGRESS_LINE_BYTES) {
		buffer_append(&progress->line, bytes, size);
		return;
	}
	progress->is_skipping = true;
	report_bad_line(progress);
}

void command_progress_take(struct command_progress *progress, const char *bytes, size_t size)
{
	const char *end = bytes + size;
	const char *newline;

	for (; (newline = memchr(bytes, '\n', (size_t)(end - bytes))); bytes = newline + 1) {
		keep_part(progress, bytes, (size_t)(newline - bytes));
		if (!progress->is_skipping && buffer_status(&progress->line) == 0)
			take_line(progress, buffer_text(&progress->line), progress->line.size);
		buffer_reset(&progress->line);
		progress->is_skipping = false;
	}
	keep_part(progress, bytes, (size_t)(end - bytes));
}

void command_progress_begin(struct command_progress *progress, uint64_t id)
{
	progress->id = id;
	progress->pace = (struct pace){0};
	buffer_reset(&progress->line);
	progress->is_skipping = progress->has_complained = false;
}

void command_progress_deinit(struct command_progress *progress)
{
	buffer_deinit(&progress->line);
	buffer_deinit(&progress->frame);
	json_tape_deinit(&progress->tape);
}
