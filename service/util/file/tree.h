/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Folders with everything in them. */

/* The bounds of a copy. */
struct tree_limits {
	size_t entries; /* the most files and folders */
	size_t bytes;   /* the most bytes of all files */
	unsigned int depth;
};

/* Copy the file @from to the new file @to, with its permission to run and no other mode. Return 0
 * or a negative errno: -EFBIG for over @size_max bytes. */
int tree_copy_file(const char *from, const char *to, size_t size_max);

/*
 * Copy the folder @from to the new folder @to: folders and regular files, and the targets of links,
 * without the names that begin with '.'. Return 0; -EFBIG past @limits, -EINVAL for a device or a
 * pipe, or the negative errno of a system call, each with the path that is at fault, which the
 * caller frees, or NULL without memory, in @ret_path. The part copied so far stays.
 */
int tree_copy(const char *from, const char *to, const struct tree_limits *limits, char **ret_path);

/* Remove the file or the folder @path with its contents, as far as possible. Links and mounts are
 * not followed, whatever a program does there meanwhile. */
void tree_remove(const char *path);

/* The same, until @is_over, which is asked before each file. */
void tree_remove_until(const char *path, bool (*is_over)(void *data), void *data);
