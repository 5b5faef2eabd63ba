/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The registration folders (toolbox.d), low to high: a file in a higher folder replaces the one of
 * the same name in a lower one; a link to /dev/null masks it (contract.md, Registration folders).
 */

struct folders_entry {
	char *path;
	const char *name; /* its last part */
	bool is_folder;   /* drop-in programs */
};

/* A file or folder that the one of its name in a higher folder hides: a link to /dev/null, or one
 * that is registered in its place. */
struct folders_mask {
	char *path;
	char *link;
	bool is_replaced; /* @link is registered */
};

struct folders_listing {
	struct folders_entry *entries; /* sorted by name (bytes) */
	size_t n_entries;
	struct folders_mask *masks; /* the hidden entries, in the highest folder that has them */
	size_t n_masks;
	/* sorted: scripts that describe themselves as tools, and are in no folder of their own */
	char **strays;
	size_t n_strays;
};

/* The most strays that are listed. */
#define FOLDERS_STRAYS_MAX 100

/* List what is registered in @folders. A folder that does not exist is empty; one that cannot be
 * read is reported by log. Names that begin with '.' or '_' are left out, and files that do not end
 * in ".json". 0, or a negative errno when memory or descriptors are short. */
int folders_list(const char *const *folders, size_t n_folders, struct folders_listing *ret_listing);

void folders_listing_deinit(struct folders_listing *listing);

/* Return whether a person who names @path means a registration folder: a folder with a '.' in its
 * name, which no toolbox id has. */
bool folders_is_registration(const char *path);
