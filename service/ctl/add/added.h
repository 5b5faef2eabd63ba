/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/text/text_list.h"

/*
 * The registrations that `toolboxctl add` has put into the user's folder: it replaces only these,
 * and `remove` takes out only these.
 *
 *   $XDG_DATA_HOME/toolboxd/toolbox.d/NAME.json, or the folder NAME     a registration
 *   STATE/added.json                       ["/…/toolbox.d/NAME.json", …] their paths
 */
struct added {
	char *folder;           /* the user's registration folder */
	char *state;            /* the state folder of this user */
	struct text_list paths; /* the paths in added.json, of this and other folders */
	int lock;               /* no other toolboxctl changes them; -1: not locked */
};

/* Read the paths into @ret_added, which the caller closes in any case. Without @is_locked nothing
 * is locked, and no folder is made. Return 0, or CTL_ERROR after a complaint. */
int added_open(bool is_locked, struct added *ret_added);

/* Write the paths. A path in the folder where nothing is any more is forgotten: a file that comes
 * there later belongs to the user. Return 0, or CTL_ERROR after a complaint. */
int added_write(struct added *added);

/* Free @added, and give its lock up. */
void added_close(struct added *added);

/* Return whether `add` has put the registration called @name into the folder. */
bool added_has(const struct added *added, const char *name);

/* Note that `add` has put @name there, or that @name is gone. Return 0, or CTL_ERROR without
 * memory. */
int added_note(struct added *added, const char *name);
void added_forget(struct added *added, const char *name);

/* Return the id of the registration @index of its paths, which the caller frees; NULL when it is in
 * another folder, or without memory. */
char *added_id(const struct added *added, size_t index);

/* Return the path of @name in the folder, which the caller frees; NULL without memory. */
char *added_path(const struct added *added, const char *name);

/* Complain that @path, in the folder or the state folder, cannot be written: with the error, the
 * owner of the folder, and the command for a change. Return CTL_ERROR. */
int added_complain(const char *path, int error);
