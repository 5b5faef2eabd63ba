/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/terminal.h"
#include "util/cleanup.h"
#include "util/text/wrap.h"

#define GAP      2  /* spaces between columns */
#define LAST_MIN 24 /* the least columns for a last column that is wrapped below itself */
#define INDENT   2  /* spaces before the lines of a paragraph */
#define BELOW    4  /* spaces before the text of a last column that is wrapped below its row */

struct cell {
	const char *text;
	size_t size;
	size_t width;
	const char *style; /* or NULL */
};

/* The escape sequences around titles, and after a text with a style; "" without colours. */
struct look {
	const char *bold;
	const char *plain;
};

void table_init(struct table *table, const struct table_column *columns, size_t n_columns)
{
	*table = (struct table){.columns = columns, .n_columns = n_columns};
}

struct buffer *table_cell(struct table *table)
{
	return &table->text;
}

void table_next_styled(struct table *table, const char *style)
{
	struct table_end end = {table->text.size - table->start, style};

	buffer_append(&table->ends, &end, sizeof(end));
	table->start = table->text.size;
}

void table_next(struct table *table)
{
	table_next_styled(table, NULL);
}

void table_add(struct table *table, const char *text)
{
	terminal_append_line(table_cell(table), text, strlen(text));
	table_next(table);
}

void table_add_member(
	struct table *table, const struct json_tape *tape, uint32_t object, const char *key)
{
	terminal_append_member(table_cell(table), tape, object, key);
	table_next(table);
}

void table_add_time(struct table *table, const char *text)
{
	struct tm parts = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);

	if (!end || *end) {
		table_add(table, text);
		return;
	}
	terminal_append_time(table_cell(table), timegm(&parts));
	table_next(table);
}

size_t table_rows(const struct table *table)
{
	return table->ends.size / sizeof(struct table_end) / table->n_columns;
}

static struct cell make_cell(const char *text, size_t size, const char *style)
{
	struct cell cell = {.text = text, .size = size, .style = style};

	wrap_prefix(text, size, SIZE_MAX, &cell.width);
	return cell;
}

/* Return all cells, titles first, which the caller frees; NULL without memory. */
static struct cell *lay_out(const struct table *table)
{
	size_t n_cells = table_rows(table) * table->n_columns;
	struct cell *cells = calloc(n_cells + table->n_columns, sizeof(*cells));
	const char *text = table->text.data;

	if (!cells || buffer_status(&table->text) < 0 || buffer_status(&table->ends) < 0) {
		free(cells);
		return NULL;
	}
	for (size_t i = 0; i < table->n_columns; i++)
		cells[i] =
			make_cell(table->columns[i].title, strlen(table->columns[i].title), NULL);
	for (size_t i = 0; i < n_cells; i++) {
		struct table_end end;

		memcpy(&end, table->ends.data + i * sizeof(end), sizeof(end));
		cells[table->n_columns + i] = make_cell(text, end.size, end.style);
		text += end.size;
	}
	return cells;
}

/* Append the text of @cell in its style. */
static void append_styled(const struct cell *cell, const struct look *look, struct buffer *out)
{
	bool has_style = cell->style && *look->plain;

	buffer_append_string(out, has_style ? cell->style : "");
	buffer_append(out, cell->text, cell->size);
	buffer_append_string(out, has_style ? look->plain : "");
}

/* Cut the spaces at the end of the line, and end it. */
static void end_row(struct buffer *out)
{
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
	buffer_append_char(out, '\n');
}

/* The place of the last column. */
struct place {
	size_t room;   /* the columns that the others leave; SIZE_MAX: any number */
	size_t width;  /* the columns of the terminal; 0: any number */
	bool is_below; /* text that needs more than @room is below its row */
};

/* Append the last cell of a row, whose other cells take @used columns. */
static void append_last(
	const struct cell *cell, size_t used, const struct place *place, struct buffer *out)
{
	if (!place->is_below || cell->width <= place->room) {
		terminal_append_wrapped(out, cell->text, cell->size, place->room, used);
		return;
	}
	end_row(out);
	terminal_append_spaces(out, BELOW);
	terminal_append_wrapped(out, cell->text, cell->size, place->width - BELOW, BELOW);
}

static void append_row(const struct table *table, const struct cell *row, const size_t *widths,
	const struct place *place, const struct look *look, struct buffer *out)
{
	size_t last = table->n_columns - 1;
	size_t used = 0;

	for (size_t i = 0; i < last; i++) {
		size_t pad = widths[i] - row[i].width;

		terminal_append_spaces(out, table->columns[i].is_number ? pad : 0);
		append_styled(&row[i], look, out);
		terminal_append_spaces(out, (table->columns[i].is_number ? 0 : pad) + GAP);
		used += widths[i] + GAP;
	}
	if (table->columns[last].is_number)
		terminal_append_spaces(out, widths[last] - row[last].width);
	append_last(&row[last], used, place, out);
}

/* Append the cell @cell of a paragraph of @width columns with its title @title. @at: the columns in
 * use, 0 before the first cell. Return those in use afterwards. */
static size_t append_titled(const char *title, const struct cell *cell, size_t width, size_t at,
	const struct look *look, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t needed = strlen(title) + 1 + cell->width;
	size_t room = width > INDENT ? width - INDENT : 1;

	if (at > 0 && at + GAP + needed <= width) {
		terminal_append_spaces(out, GAP);
		at += GAP + needed;
	} else {
		buffer_append_char(out, '\n');
		terminal_append_spaces(out, INDENT);
		at = INDENT + needed;
	}
	if (needed <= room) {
		buffer_printf(out, "%s ", title);
		append_styled(cell, look, out);
		return at;
	}
	buffer_printf(&text, "%s ", title);
	buffer_append(&text, cell->text, cell->size);
	buffer_fail_with(out, &text);
	if (buffer_status(&text) == 0)
		terminal_append_wrapped(out, text.data, text.size, room, INDENT);
	return width;
}

/* Append a row as a paragraph of @width columns: its first cell, then the others with their titles.
 */
static void append_paragraph(const struct table *table, const struct cell *row, size_t width,
	const struct look *look, struct buffer *out)
{
	size_t at = 0;

	buffer_append_string(out, look->bold);
	terminal_append_wrapped(out, row[0].text, row[0].size, width, INDENT);
	buffer_append_string(out, look->plain);
	for (size_t i = 1; i < table->n_columns; i++)
		if (row[i].size > 0 && (row[i].size != 1 || *row[i].text != '-'))
			at = append_titled(table->columns[i].title, &row[i], width, at, look, out);
}

/* Return the place of the last column of a table of @width columns; room 0: it has none. */
static struct place find_last_place(const struct table *table, const size_t *widths, size_t width)
{
	const size_t last = table->n_columns - 1;
	struct place place = {.room = SIZE_MAX, .width = width};
	size_t used = 0;

	if (width == 0)
		return place;
	for (size_t i = 0; i < last; i++)
		used += widths[i] + GAP;
	place.room = used < width ? width - used : 0;
	if (widths[last] <= place.room || (place.room >= LAST_MIN && place.room >= used))
		return place;
	place.is_below = place.room >= strlen(table->columns[last].title);
	place.room = place.is_below ? place.room : 0;
	return place;
}

void table_write(const struct table *table, size_t width, const char *bold, const char *plain,
	struct buffer *out)
{
	const struct look look = {bold, plain};
	size_t n_rows = table_rows(table) + 1;
	cleanup_free struct cell *cells = lay_out(table);
	cleanup_free size_t *widths = calloc(table->n_columns, sizeof(*widths));
	struct place place;

	if (!cells || !widths) {
		out->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < n_rows * table->n_columns; i++)
		if (cells[i].width > widths[i % table->n_columns])
			widths[i % table->n_columns] = cells[i].width;
	place = find_last_place(table, widths, width);
	if (place.room > 0) {
		buffer_append_string(out, bold);
		append_row(table, cells, widths, &place, &look, out);
		buffer_append_string(out, plain);
		end_row(out);
	}
	for (size_t i = 1; i < n_rows; i++) {
		const struct cell *row = cells + i * table->n_columns;

		if (place.room > 0)
			append_row(table, row, widths, &place, &look, out);
		else
			append_paragraph(table, row, width, &look, out);
		end_row(out);
	}
}

void table_append(const struct table *table, struct buffer *out)
{
	table_write(table, terminal_width(), terminal_bold(), terminal_plain(), out);
}

void table_print(const struct table *table)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	table_append(table, &text);
	terminal_print(&text);
}

void table_deinit(struct table *table)
{
	buffer_deinit(&table->text);
	buffer_deinit(&table->ends);
}
