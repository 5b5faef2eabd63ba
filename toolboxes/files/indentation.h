/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_INDENTATION_H
#define FILES_INDENTATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The block of code around a line, by its indentation:
 *
 *   void f(void)          ◀ lowest level, with max_levels 1 and the anchor below
 *   {
 *           x = 1;        ◀ anchor
 *   }
 *
 * From the anchor the block goes up, then down, as long as the lines are indented at least as far
 * as the lowest level. An empty line is indented like the line before.
 */

/* The columns of a tab, and of a level. */
#define TAB_COLUMNS 4

struct indentation {
	size_t max_levels; /* levels above the anchor's; 0: all */
	bool has_siblings; /* the lines of the lowest level that begin other blocks, too */
	bool has_header;   /* comments and empty lines above the block, too */
};

/* A line, as far as it decides. */
struct indented {
	size_t columns; /* its indentation */
	bool is_blank;
	bool is_comment; /* begins with #, // or -- */
};

/* Look at a line without its line end. */
struct indented indented_read(const char *bytes, size_t size);

/* Find the block of the line @anchor among @n lines, of at most @max lines. *ret_first is its first
 * line, *ret_end the one after its last. */
void indentation_find(const struct indentation *wanted, const struct indented *lines, size_t n,
	size_t anchor, size_t max, size_t *ret_first, size_t *ret_end);

#endif
