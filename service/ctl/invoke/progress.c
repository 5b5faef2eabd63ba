/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/terminal.h"
#include "json/number.h"
#include "util/clock.h"
#include "util/text/wrap.h"

#define COLUMNS     80 /* for a terminal without a size */
#define BAR_CELLS   16
#define SHORT_CELLS 8
#define TEXT_LEAST  12   /* columns that a text gets before a bar does */
#define QUIET_MS    2000 /* before a call that reports nothing gets a line */

static const char hint[] = "   (Ctrl-C cancels)";

void progress_begin(struct progress *progress)
{
	const char *terminal = getenv("TERM");

	*progress = (struct progress){.began_ms = clock_now_ms(), .done = -1};
	progress->is_shown = isatty(STDERR_FILENO) && (!terminal || strcmp(terminal, "dumb") != 0);
}

void progress_deinit(struct progress *progress)
{
	buffer_deinit(&progress->text);
}

static void write_bar(double done, size_t cells, bool has_utf8, struct buffer *out)
{
	size_t full = (size_t)(done * (double)cells + 0.5);

	for (size_t i = 0; i < cells; i++)
		buffer_append_string(
			out, i < full ? (has_utf8 ? "█" : "#") : (has_utf8 ? "░" : "-"));
	buffer_append_char(out, ' ');
}

/* Append as many words of the text as fit into @columns. Return whether there are any. */
static bool write_progress_text(
	const struct progress *progress, size_t columns, bool has_utf8, struct buffer *out)
{
	const char *dots = has_utf8 ? "…" : "...";
	const char *text = progress->text.data;
	size_t size = progress->text.size;
	size_t width;
	size_t fits;

	if (size == 0)
		return false;
	if (wrap_prefix(text, size, columns, &width) == size) {
		buffer_append(out, text, size);
		return true;
	}
	fits = columns > 3 ? wrap_prefix(text, size, columns - 3, &width) : 0;
	while (fits > 0 && text[fits] != ' ')
		fits--;
	if (fits == 0)
		return false;
	buffer_append(out, text, fits);
	buffer_append_string(out, dots);
	return true;
}

void progress_write(const struct progress *progress, size_t columns, double seconds, bool has_utf8,
	struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer figures = {0};
	bool has_done = progress->done >= 0;
	size_t room = columns > 0 ? columns - 1 : 0; /* the last column would begin a new line */
	size_t cells = 0;
	size_t width = 0;
	bool has_hint;

	if (has_done)
		buffer_printf(&figures, "%.0f %%  ", progress->done * 100);
	buffer_printf(&figures, "%.1f s", seconds);
	room -= figures.size < room ? figures.size : room;
	if (progress->text.size > 0)
		wrap_prefix(progress->text.data, progress->text.size, TEXT_LEAST, &width);
	has_hint = room >= strlen(hint) + width + 1 + (has_done ? SHORT_CELLS + 1 : 0);
	room -= has_hint ? strlen(hint) : 0;
	if (has_done && room >= width + 1 + BAR_CELLS + 1)
		cells = BAR_CELLS;
	else if (has_done && room >= width + 1 + SHORT_CELLS + 1)
		cells = SHORT_CELLS;
	room -= cells > 0 ? cells + 1 : 0;
	if (room > 1 && write_progress_text(progress, room - 1, has_utf8, out))
		buffer_append_char(out, ' ');
	if (cells > 0)
		write_bar(progress->done, cells, has_utf8, out);
	buffer_append_buffer(out, &figures);
	buffer_append_string(out, has_hint ? hint : "");
}

static void draw(struct progress *progress)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	struct winsize size = {0};
	double seconds = (double)(clock_now_ms() - progress->began_ms) / MS_PER_S;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		size.ws_col = COLUMNS;
	progress_write(progress, size.ws_col, seconds, terminal_has_utf8(), &line);
	terminal_draw_line(&line);
}

void progress_take(struct progress *progress, const struct json_tape *event)
{
	double done = -1;

	if (!progress->is_shown)
		return;
	if (json_read_f64(event, json_find(event, 0, "progress"), &done) && done >= 0 && done <= 1)
		progress->done = done;
	buffer_reset(&progress->text);
	terminal_append_member(&progress->text, event, 0, "text");
	draw(progress);
}

void progress_tick(struct progress *progress)
{
	if (terminal_has_line() ||
		(progress->is_shown && clock_now_ms() >= progress->began_ms + QUIET_MS))
		draw(progress);
}
