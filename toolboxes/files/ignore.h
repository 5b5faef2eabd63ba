/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FILES_IGNORE_H
#define FILES_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Files that a search leaves out: the rules of .gitignore, .ignore and .rgignore, in the format of
 * gitignore(5). The rules of a folder count for all below; the deepest folder decides, in a folder
 * the last rule that matches.
 */
struct ignore;

/* Read the rules of the open folder @fd, whose path has @folder_size bytes, below the rules @above
 * (NULL: none). Return @above itself when it has none, and without memory. */
const struct ignore *ignore_read(int fd, size_t folder_size, const struct ignore *above);

/* Free the rules of one folder: what ignore_read() has returned, if it was not @above. */
void ignore_free(const struct ignore *ignore, const struct ignore *above);

/* Return whether @ignore (NULL: no rules) leaves out the file, or folder, at @path, whose last name
 * is @name. */
bool ignore_has(const struct ignore *ignore, const char *path, const char *name, bool is_folder);

#endif
