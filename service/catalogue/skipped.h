/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* A drop-in program, or a tool described by a host, found but not offered, on purpose or because of
 * a mistake. It is listed for the owner of the device. */
struct skipped {
	char *name; /* the tool's; NULL: the whole toolbox */
	char *reason;
};

/* Zeroed it is empty. */
struct skipped_list {
	struct skipped *items;
	size_t n_items;
};

/* Add one: @name (NULL as above) and @reason are copied. 0 or -ENOMEM. */
int skipped_list_add(struct skipped_list *list, const char *name, const char *reason);

void skipped_list_deinit(struct skipped_list *list);
