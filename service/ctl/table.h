/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * A table of text: columns as wide as their widest cell (in terminal columns, not bytes), the last
 * one cut where the terminal ends.
 */

struct table_column {
	const char *title;
	bool is_number; /* to the right */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	struct buffer text;  /* all cells, one behind the other */
	struct buffer sizes; /* of each cell: size_t */
	size_t start;        /* of the cell that is being written */
};

/* Begin an empty table. */
void table_init(struct table *table, const struct table_column *columns, size_t n_columns);

/* Where the text of the next cell is appended: one line, see terminal_append_line(). */
struct buffer *table_cell(struct table *table);

/* The cell is done; the next one is to its right, or the first of the next row. */
void table_next(struct table *table);

/* A whole cell. */
void table_add(struct table *table, const char *text);

size_t table_rows(const struct table *table);

/* Append the table; lines are cut to @width columns (0: never). Titles stand between @bold and
 * @plain. */
void table_write(const struct table *table, size_t width, const char *bold, const char *plain,
	struct buffer *out);

/* Print it to stdout, lines cut to the terminal's width. */
void table_print(const struct table *table);

/* Print it with all that is in it: what has to be read to its end. */
void table_print_whole(const struct table *table);

void table_deinit(struct table *table);
