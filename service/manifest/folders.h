/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/text/text_list.h"

/*
 * The registration folders (toolbox.d), low to high: a file in a higher folder replaces its
 * namesake in a lower folder; a link to /dev/null masks it (contract.md, Registration folders).
 */

struct folders_entry {
	char *path;
	const char *name; /* its last part */
	bool is_folder;   /* drop-in programs */
};

/* A file or folder hidden by its namesake in a higher folder: a link to /dev/null, or a
 * registration in its place. */
struct folders_mask {
	char *path;
	char *link;
	bool is_replaced; /* @link is registered */
};

struct folders_listing {
	struct folders_entry *entries; /* sorted by name (bytes) */
	size_t n_entries;
	struct folders_mask *masks; /* the hidden entries, each in the highest folder with its
	                             * name */
	size_t n_masks;
	/* sorted: scripts that describe themselves as tools, without a folder of their own */
	struct text_list strays;
	/* the links in the folders, whatever they lead to, but those with '.' at their start */
	struct text_list links;
};

/* The most listed strays. */
#define FOLDERS_STRAYS_MAX 100

/* List the registrations in @folders. A missing folder is empty; an unreadable folder is logged.
 * Names with '.' or '_' at their start are left out, and files without ".json" at their end. 0, or
 * a negative errno when memory or descriptors are short. */
int folders_list(const char *const *folders, size_t n_folders, struct folders_listing *ret_listing);

void folders_listing_deinit(struct folders_listing *listing);

/* Return whether a person who names @path means a registration folder: a folder with a '.' in its
 * name, unlike any toolbox id. */
bool folders_is_registration(const char *path);
