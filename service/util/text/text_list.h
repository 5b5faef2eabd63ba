/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* A list, the owner of its texts. A zeroed struct is an empty list. */
struct text_list {
	char **items;
	size_t n_items;
};

/* Append a copy of @text. Return 0 or -ENOMEM. */
int text_list_add(struct text_list *list, const char *text);

/* Append @text, taken over by the list, also on failure. NULL is a text lost to a shortage of
 * memory. Return 0 or -ENOMEM. */
int text_list_take(struct text_list *list, char *text);

/* Free the text @index and remove it. */
void text_list_remove(struct text_list *list, size_t index);

/* Return whether one of the texts is @text. */
bool text_list_has(const struct text_list *list, const char *text);

/* Append ": a, b and 3 more", of about @bytes at most; nothing when the list is empty. */
void text_list_write(const struct text_list *list, size_t bytes, struct buffer *out);

/* Free the texts: the list is empty again. */
void text_list_deinit(struct text_list *list);
