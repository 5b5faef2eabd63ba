/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/catalogue.h"
#include "util/cleanup.h"
#include "util/text/text_list.h"

/* The differences between two catalogues: names `toolbox_id/tool`, sorted by byte. */
struct changes {
	struct text_list added;
	struct text_list removed;
	struct text_list changed; /* another definition, or another library */
};

/* Compare @before (NULL: empty) with @after. 0 or -ENOMEM. */
int changes_find(
	const struct catalogue *before, const struct catalogue *after, struct changes *ret_changes);

void changes_deinit(struct changes *changes);

/* Return whether there are no changes. */
bool changes_are_empty(const struct changes *changes);
