/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_OUTPUT_H
#define SHELL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/*
 * What a command has put out and nobody has read: bytes in the order of their arrival.
 *
 *   output_add ──▶ [ …unread bytes… ] ──▶ output_take: the first characters, as UTF-8
 *
 * At most OUTPUT_UNREAD_MAX bytes are kept.
 */

#define OUTPUT_UNREAD_MAX ((size_t)16 << 20)

struct output {
	char *data;
	size_t start; /* the first unread byte */
	size_t end;
	size_t room;
};

/* Return where up to *ret_size bytes (a page or more) may be read to; NULL: it is full, or memory
 * is short. */
char *output_space(struct output *output, size_t *ret_size);

/* Count @size bytes at output_space() as put out. */
void output_added(struct output *output, size_t size);

/* Append @text, of our own, beyond the bound. */
void output_note(struct output *output, const char *text);

size_t output_unread(const struct output *output);

/* Return the number of unread characters; a byte that is not UTF-8 counts as one. *ret_size: the
 * bytes of the first @max of them. @is_whole: nothing follows; else the bytes of a character that
 * has not come whole are left out. */
size_t output_count(
	const struct output *output, bool is_whole, size_t max, size_t *ret_size, size_t *ret_left);

/* Append the first @size unread bytes to @text; bytes that are not UTF-8 become U+FFFD. */
void output_show(const struct output *output, size_t size, struct text *text);

/* Forget the first @size unread bytes: they were delivered. */
void output_forget(struct output *output, size_t size);

void output_free(struct output *output);

#endif
