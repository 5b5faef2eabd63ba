/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/table.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/terminal.h"
#include "util/cleanup.h"

#define GAP      2 /* spaces between columns */
#define ELLIPSIS "…"

struct cell {
	const char *text;
	size_t size;
	size_t width;
};

void table_init(struct table *table, const struct table_column *columns, size_t n_columns)
{
	*table = (struct table){.columns = columns, .n_columns = n_columns};
}

struct buffer *table_cell(struct table *table)
{
	return &table->text;
}

void table_next(struct table *table)
{
	size_t size = table->text.size - table->start;

	buffer_append(&table->sizes, &size, sizeof(size));
	table->start = table->text.size;
}

void table_add(struct table *table, const char *text)
{
	terminal_append_line(table_cell(table), text, strlen(text));
	table_next(table);
}

size_t table_rows(const struct table *table)
{
	return table->sizes.size / sizeof(size_t) / table->n_columns;
}

static struct cell make_cell(const char *text, size_t size)
{
	struct cell cell = {.text = text, .size = size};

	terminal_text_prefix(text, size, SIZE_MAX, &cell.width);
	return cell;
}

/* Return all cells, titles first, which the caller frees; NULL without memory. */
static struct cell *lay_out(const struct table *table)
{
	size_t n_cells = table_rows(table) * table->n_columns;
	struct cell *cells = calloc(n_cells + table->n_columns, sizeof(*cells));
	const char *text = table->text.data;

	if (!cells || buffer_status(&table->text) < 0 || buffer_status(&table->sizes) < 0) {
		free(cells);
		return NULL;
	}
	for (size_t i = 0; i < table->n_columns; i++)
		cells[i] = make_cell(table->columns[i].title, strlen(table->columns[i].title));
	for (size_t i = 0; i < n_cells; i++) {
		size_t size;

		memcpy(&size, table->sizes.data + i * sizeof(size), sizeof(size));
		cells[table->n_columns + i] = make_cell(text, size);
		text += size;
	}
	return cells;
}

static void append_spaces(struct buffer *out, size_t count)
{
	while (count-- > 0)
		buffer_append_char(out, ' ');
}

/* Append as much of the cell as fits into @columns, with an ellipsis for the rest. */
static void append_cut(const struct cell *cell, size_t columns, struct buffer *out)
{
	size_t width;

	if (cell->width <= columns) {
		buffer_append(out, cell->text, cell->size);
	} else if (columns > 0) {
		buffer_append(out, cell->text,
			terminal_text_prefix(cell->text, cell->size, columns - 1, &width));
		buffer_append_string(out, ELLIPSIS);
	}
}

static void append_row(const struct table *table, const struct cell *row, const size_t *widths,
	size_t width, struct buffer *out)
{
	size_t used = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		bool is_last = i + 1 == table->n_columns;
		size_t room = width > 0 ? (width > used ? width - used : 0) : SIZE_MAX;
		size_t pad = widths[i] - row[i].width;

		if (table->columns[i].is_number)
			append_spaces(out, pad < room ? pad : room);
		append_cut(&row[i], room, out);
		if (!table->columns[i].is_number && !is_last && room > widths[i])
			append_spaces(out, pad);
		if (!is_last && room > widths[i])
			append_spaces(out, GAP);
		used += widths[i] + GAP;
	}
}

/* Cut the spaces at the end of the line, and end it. */
static void end_line(struct buffer *out)
{
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
	buffer_append_char(out, '\n');
}

void table_write(const struct table *table, size_t width, const char *bold, const char *plain,
	struct buffer *out)
{
	size_t n_rows = table_rows(table) + 1;
	cleanup_free struct cell *cells = lay_out(table);
	cleanup_free size_t *widths = calloc(table->n_columns, sizeof(*widths));

	if (!cells || !widths) {
		out->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < n_rows * table->n_columns; i++)
		if (cells[i].width > widths[i % table->n_columns])
			widths[i % table->n_columns] = cells[i].width;
	for (size_t row = 0; row < n_rows; row++) {
		buffer_append_string(out, row == 0 ? bold : "");
		append_row(table, cells + row * table->n_columns, widths, width, out);
		buffer_append_string(out, row == 0 ? plain : "");
		end_line(out);
	}
}

static void print(const struct table *table, size_t width)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	table_write(table, width, terminal_bold(), terminal_plain(), &text);
	terminal_print(&text);
}

void table_print(const struct table *table)
{
	print(table, terminal_width());
}

void table_print_whole(const struct table *table)
{
	print(table, 0);
}

void table_deinit(struct table *table)
{
	buffer_deinit(&table->text);
	buffer_deinit(&table->sizes);
}
