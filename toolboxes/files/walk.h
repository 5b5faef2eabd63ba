/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_WALK_H
#define FILES_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "fence.h"

/*
 * All files below a folder that a search looks at: no hidden files, no links, nothing that holds
 * secrets, nothing that ignore files leave out. A folder is open only while its entries are read,
 * and no path is kept: the memory depends on the depth alone.
 */

struct walk {
	/* Called for each file: @name in the open folder @folder, @path from the root of the file
	 * system. Return false to end the walk. */
	bool (*found)(void *data, int folder, const char *name, const char *path);
	void *data;
	size_t n_unreadable; /* folders that could not be read */
	size_t n_too_deep;   /* folders left out, since they are too deep */
};

/* Walk @place, a folder. Return 0, or a negative errno when it cannot be read. */
int walk(struct walk *walk, const struct place *place);

#endif
