/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_FENCE_H
#define COMMON_FENCE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <toolbox.h>

#include "text.h"

/*
 * The folders that callers reach, and what stays closed inside.
 *
 *   path of a caller ─realpath─▶ path without links ─▶ inside of a root? ─▶ fences ─▶ openat2
 *                                                                            below the root,
 * without
 *                                                                            following any link
 *
 * A link that is put in the way between the two steps is not followed: openat2 fails. The sandbox
 * knows the same roots and fences, so a mistake here opens nothing else.
 */

/* A path that was judged: below @root, and without links when it was looked at. */
struct place {
	const char *root;    /* borrowed */
	char path[PATH_MAX]; /* the whole path */
	bool exists;
};

/* The settings with the paths, as keys of the configuration. */
struct fence_settings {
	const char *roots;
	const char *writable;
	const char *exceptions; /* of secrets; NULL: none */
};

/* Read the paths of @settings and the fences from the configuration. Return 0; else the call has
 * the failure. */
int fence_init(struct toolbox_call call, const struct fence_settings *settings);

/* Let @path, absolute, be hidden as well. Return false without memory. */
bool fence_hide(const char *path);

/* Judge @path, an absolute path, for reading or, with @is_write, for writing. With @is_write its
 * last names need not exist. Return whether it is allowed, else @why has the words. */
bool fence_find(const char *path, bool is_write, struct place *ret_place, struct text *why);

/* Open @place with @flags of open(2), and O_NONBLOCK, O_NOCTTY, O_CLOEXEC. Return the descriptor,
 * or a negative errno. */
int fence_open(const struct place *place, int flags);

/* Open the regular file at @place for reading. Return the descriptor and its status; -1 with @why
 * when another kind of file is there, or when it cannot be opened. */
int open_regular(const struct place *place, struct stat *ret_status, struct text *why);

/* Open the folder of @place, made with the folders above when @makes. Return the descriptor with
 * *ret_name, which points into @place; or a negative errno. */
int fence_open_parent(const struct place *place, bool makes, const char **ret_name);

/* Return whether @path, absolute and without links, is hidden; its folder is not. */
bool fence_hides_entry(const char *path, size_t size);

/* Append the words for @error, a positive errno of opening or making @path. A folder with a fence
 * inside is opened entry by entry when the process starts: what is newer is not open. */
void fence_write_error(const char *path, int error, struct text *why);

/* Return the first root; NULL: there is none. */
const char *fence_first_root(void);

/* Return the first writable folder; NULL: there is none. */
const char *fence_first_writable(void);

/* Append why nothing may be written at all. Return whether there is such a reason. */
bool fence_refuses_writes(struct toolbox_call call, struct text *why);

#endif
