/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* What was found in one place and is not offered, on purpose or by its own fault: drop-in programs,
 * tools that a host tells. For the owner of a device, who looks for them. */
struct absence {
	char *name; /* the tool's; NULL: the whole toolbox */
	char *why;
};

/* Zeroed it is empty. */
struct absence_list {
	struct absence *items;
	size_t n_items;
};

/* Add one: @name (NULL as above) and @why are copied. 0 or -ENOMEM. */
int absence_list_add(struct absence_list *list, const char *name, const char *why);

void absence_list_deinit(struct absence_list *list);
