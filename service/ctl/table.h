/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/reader.h"
#include "util/array.h"
#include "util/buffer.h"

/*
 * A table of text: every column is as wide as its widest cell (in terminal columns, not bytes). The
 * text of the last one is wrapped between words, below itself. When the others leave it less than
 * half of the terminal, a long one is wrapped below its row. When they leave it no room, each row
 * is a paragraph:
 *
 *   FAILED   ERROR                          80 columns
 *   weather  toolbox.d/weather.json:1:
 *            expected an object
 *
 *   FAILED   ERROR                          30 columns
 *   weather
 *       toolbox.d/weather.json:1:
 *       expected an object
 *
 *   weather                                 12 columns
 *     ERROR
 *     toolbox.d/
 *     weather.…
 *
 * A paragraph leaves out cells with nothing or "-", and keeps a title with its cell.
 */

struct table_column {
	const char *title;
	bool is_number; /* aligned to the right */
};

struct table_end {
	size_t size;
	const char *style; /* as in table_next_styled() */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	struct buffer text; /* all cells, one after the other */
	struct buffer ends; /* struct table_end for each cell */
	size_t start;       /* position of the cell being written */
};

/* The initializer of an empty table with the array @columns_. */
#define TABLE(columns_)                                                                            \
	{                                                                                          \
		.columns = (columns_), .n_columns = ARRAY_SIZE(columns_)                           \
	}

/* Begin an empty table. */
void table_init(struct table *table, const struct table_column *columns, size_t n_columns);

/* Return the buffer for the text of the next cell, which is one line: see
 * terminal_append_line(). */
struct buffer *table_cell(struct table *table);

/* End the cell. The next one is to its right, or the first of the next row. */
void table_next(struct table *table);

/* As table_next(), in the style @style, constant text: an escape sequence for a terminal, or NULL.
 * It is left out where there are no colours. */
void table_next_styled(struct table *table, const char *style);

/* Add a whole cell. */
void table_add(struct table *table, const char *text);

/* Add a cell with the member @key of the object at @object, as terminal_append_member() has it. */
void table_add_member(
	struct table *table, const struct json_tape *tape, uint32_t object, const char *key);

/* Add a cell with the time @text, 2000-01-01T00:00:00Z, as terminal_append_time() has it. Another
 * text stays as it is. */
void table_add_time(struct table *table, const char *text);

size_t table_rows(const struct table *table);

/* Append the table for a terminal of @width columns (0: lines of any length). @bold precedes
 * titles, @plain follows what has a style; "": there are no colours. */
void table_write(const struct table *table, size_t width, const char *bold, const char *plain,
	struct buffer *out);

/* Append the table as table_print() prints it. */
void table_append(const struct table *table, struct buffer *out);

/* Print the table to stdout. */
void table_print(const struct table *table);

void table_deinit(struct table *table);
