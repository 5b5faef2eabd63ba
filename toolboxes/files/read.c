/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence.h"
#include "indentation.h"
#include "kind.h"
#include "lines.h"

/*
 * read_file: lines of a text file.
 *
 *   slice         the lines from `offset`
 *   indentation   the block around `anchor_line` (indentation.h)
 *
 * The file is read once, in blocks, and only the lines of the answer are kept. The answer ends by
 * itself before it is too long, and names the line with which the next one begins.
 */

/* The most lines of one answer: as many as fit. */
#define LINES_MAX 20000

struct reading {
	struct toolbox_call call;
	struct lines lines;
	struct text out;
	struct text why;
	uint64_t offset; /* of the first line */
	uint64_t limit;
};

/* ── kinds of files ──────────────────────────────────────────────────────────────────────────── */

/* Open the file at @path. Return whether it is a text. */
static bool open_text(struct reading *reading, const char *path)
{
	struct place place;
	struct stat status;
	const char *kind;
	char head[8192];
	ssize_t n;

	if (!fence_find(path, false, &place, &reading->why))
		return false;
	reading->lines.fd = open_regular(&place, &status, &reading->why);
	if (reading->lines.fd < 0)
		return false;
	n = pread(reading->lines.fd, head, sizeof(head), 0);
	kind = n > 0 ? binary_kind(head, (size_t)n) : NULL;
	if (n >= 0 && !kind)
		return true;
	text_add_name(&reading->why, path);
	if (kind)
		text_printf(&reading->why, " is %s, of %lld bytes: read_file reads text", kind,
			(long long)status.st_size);
	else
		text_printf(&reading->why, ": %s", strerror(errno));
	return false;
}

/* ── slice ───────────────────────────────────────────────────────────────────────────────────── */

/* Append why the file was not read to the end. */
static void write_error(struct reading *reading)
{
	if (reading->lines.error == -ETIME)
		text_printf(&reading->why,
			"the time of the call was over at line %llu: begin earlier in the file",
			(unsigned long long)reading->lines.number + 1);
	else
		text_put(&reading->why, strerror(-reading->lines.error));
}

/* Append to the lines that were read why no more could be read. */
static void add_unread(struct reading *reading)
{
	int error = reading->lines.error;

	text_printf(&reading->out, "\n[Line %llu cannot be read: %s]",
		(unsigned long long)reading->lines.number + 1,
		error == -ETIME ? "the time of the call is over" : strerror(-error));
}

/* Go on to the line before the line @number. Return whether there are so many lines, and time. */
static bool skip_to(struct reading *reading, uint64_t number, const char *argument)
{
	struct lines *lines = &reading->lines;

	while (lines->number + 1 < number) {
		if (lines_next(lines, NULL))
			continue;
		if (lines->error)
			write_error(reading);
		else
			text_printf(&reading->why,
				"%s exceeds file length: the file has %llu lines", argument,
				(unsigned long long)lines->number);
		return false;
	}
	return true;
}

/* Append @line, unless the answer would be too long. */
static bool add_line(struct reading *reading, uint64_t number, const struct line *line)
{
	size_t before = reading->out.size;

	text_put(&reading->out, before > 0 ? "\n" : "");
	line_write(&reading->out, number, line);
	if (reading->out.size <= ANSWER_BYTES_MAX)
		return true;
	reading->out.size = before;
	reading->out.data[before] = '\0';
	text_printf(&reading->out, "\n[The answer is full: go on with offset %llu]",
		(unsigned long long)number);
	return false;
}

static bool read_slice(struct reading *reading)
{
	struct lines *lines = &reading->lines;
	uint64_t n = 0;
	struct line line;

	if (!skip_to(reading, reading->offset, "offset"))
		return false;
	while (n < reading->limit && lines_next(lines, &line)) {
		n++;
		if (!add_line(reading, lines->number, &line))
			return true;
	}
	if (n == reading->limit && lines_has_next(lines))
		text_printf(&reading->out, "\n[More lines: go on with offset %llu]",
			(unsigned long long)lines->number + 1);
	if (lines->error && n > 0)
		add_unread(reading);
	else if (lines->error)
		write_error(reading);
	else if (n == 0 && reading->offset == 1)
		text_put(&reading->out, "[The file is empty]");
	else if (n == 0)
		text_printf(&reading->why, "offset exceeds file length: the file has %llu lines",
			(unsigned long long)lines->number);
	return reading->why.size == 0;
}

/* ── indentation ─────────────────────────────────────────────────────────────────────────────── */

/* The lines around an anchor: at most twice as many as an answer has. */
struct around {
	struct text bytes; /* of all of them, one after the other */
	struct line *lines;
	struct indented *indented;
	size_t *begins;
	size_t n;
};

static void around_free(struct around *around)
{
	text_free(&around->bytes);
	free(around->lines);
	free(around->indented);
	free(around->begins);
}

static bool around_keep(struct around *around, const struct line *line)
{
	around->begins[around->n] = around->bytes.size;
	around->lines[around->n] = *line;
	around->indented[around->n++] = indented_read(line->bytes, line->size);
	text_add(&around->bytes, line->bytes, line->size);
	return !around->bytes.has_failed;
}

/* Keep the lines around @anchor, from the line @first on. */
static bool gather(struct reading *reading, uint64_t first, uint64_t anchor, struct around *around)
{
	size_t room = (size_t)(anchor - first + reading->limit);
	struct line line;

	around->lines = calloc(room, sizeof(*around->lines));
	around->indented = calloc(room, sizeof(*around->indented));
	around->begins = calloc(room, sizeof(*around->begins));
	if (!around->lines || !around->indented || !around->begins)
		text_put(&reading->why, "out of memory");
	else if (skip_to(reading, first, "anchor_line"))
		while (around->n < room && lines_next(&reading->lines, &line) &&
			around_keep(around, &line))
			;
	if (reading->why.size == 0 && first + around->n <= anchor && reading->lines.error)
		write_error(reading);
	else if (reading->why.size == 0 && first + around->n <= anchor)
		text_printf(&reading->why,
			"anchor_line exceeds file length: the file has %llu lines",
			(unsigned long long)reading->lines.number);
	return reading->why.size == 0;
}

static bool read_flag(struct toolbox_call call, const char *key)
{
	bool flag = true;

	toolbox_get_bool(call, key, &flag);
	return flag;
}

static bool read_around(struct reading *reading)
{
	struct toolbox_call call = reading->call;
	struct indentation wanted = {
		.max_levels = (size_t)read_number(call, "/indentation/max_levels", 0, 1000),
		.has_siblings = read_flag(call, "/indentation/include_siblings"),
		.has_header = read_flag(call, "/indentation/include_header"),
	};
	uint64_t anchor =
		read_number(call, "/indentation/anchor_line", reading->offset, UINT64_MAX / 2);
	struct around around = {0};
	uint64_t first;
	size_t begin;
	size_t end;
	bool is_good;

	reading->limit =
		read_number(call, "/indentation/max_lines", reading->limit, reading->limit);
	first = anchor > reading->limit ? anchor - reading->limit + 1 : 1;
	is_good = gather(reading, first, anchor, &around);
	if (is_good) {
		indentation_find(&wanted, around.indented, around.n, (size_t)(anchor - first),
			(size_t)reading->limit, &begin, &end);
		for (size_t i = begin; i < end; i++) {
			around.lines[i].bytes = text_string(&around.bytes) + around.begins[i];
			if (!add_line(reading, first + i, &around.lines[i]))
				break;
		}
		if (end == around.n && reading->lines.error)
			add_unread(reading);
	}
	around_free(&around);
	return is_good;
}

/* ── the tool ────────────────────────────────────────────────────────────────────────────────── */

void read_file(struct toolbox_call call, void *data)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	const char *path;
	const char *mode = "slice";
	bool is_good;

	(void)data;
	if (!reading) {
		toolbox_fail(call, "out of memory");
		return;
	}
	path = read_path(call, "file_path", "", &reading->why);
	toolbox_get_string(call, "mode", &mode, NULL);
	reading->call = reading->lines.call = call;
	reading->lines.fd = -1;
	reading->offset = read_number(call, "offset", 1, UINT64_MAX / 2);
	reading->limit = read_number(call, "limit", READ_LINES, LINES_MAX);
	is_good = path && open_text(reading, path) &&
		  (strcmp(mode, "slice") == 0 ? read_slice(reading) : read_around(reading));
	answer(call, "read_file", is_good, &reading->out, &reading->why);
	if (reading->lines.fd >= 0)
		close(reading->lines.fd);
	text_free(&reading->out);
	text_free(&reading->why);
	free(reading);
}
