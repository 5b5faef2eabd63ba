/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/text_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

int text_list_add(struct text_list *list, const char *text)
{
	return text_list_take(list, strdup(text));
}

int text_list_take(struct text_list *list, char *text)
{
	if (!text || array_grow(list->items, list->n_items) < 0) {
		free(text);
		return -ENOMEM;
	}
	list->items[list->n_items++] = text;
	return 0;
}

void text_list_remove(struct text_list *list, size_t index)
{
	free(list->items[index]);
	memmove(list->items + index, list->items + index + 1,
		(--list->n_items - index) * sizeof(*list->items));
}

bool text_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->n_items; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

void text_list_write(const struct text_list *list, size_t bytes, struct buffer *out)
{
	size_t start = out->size;

	for (size_t i = 0; i < list->n_items; i++) {
		if (out->size + strlen(list->items[i]) > start + bytes) {
			buffer_printf(out, "%s%zu more", i > 0 ? " and " : ": ", list->n_items - i);
			return;
		}
		buffer_printf(out, "%s%s", i > 0 ? ", " : ": ", list->items[i]);
	}
}

void text_list_deinit(struct text_list *list)
{
	for (size_t i = 0; i < list->n_items; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct text_list){0};
}
