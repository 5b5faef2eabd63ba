/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/skipped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"

int skipped_list_add(struct skipped_list *list, const char *name, const char *reason)
{
	cleanup_free char *name_copy = name ? strdup(name) : NULL;
	cleanup_free char *reason_copy = strdup(reason);

	if (!reason_copy || (name && !name_copy) || array_grow(list->items, list->n_items) < 0)
		return -ENOMEM;
	list->items[list->n_items++] =
		(struct skipped){.name = take_ptr(name_copy), .reason = take_ptr(reason_copy)};
	return 0;
}

void skipped_list_deinit(struct skipped_list *list)
{
	for (size_t i = 0; i < list->n_items; i++) {
		free(list->items[i].name);
		free(list->items[i].reason);
	}
	free(list->items);
	*list = (struct skipped_list){0};
}
