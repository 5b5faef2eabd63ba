/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/stamp.h"

/* A library as a manifest names it, and what its file was when it was looked at: the same again
 * means that nothing has changed. */
struct toolbox_library {
	char *path;         /* as it is loaded: absolute, or a name for the dynamic linker */
	char *file;         /* its path; NULL: not known yet (a linker name, unchecked) */
	struct stamp stamp; /* stamp of its file */
	uint64_t digest;    /* digest of its bytes, or of the stamp when they are too many */
};

/* The bytes of a larger file are not read, since that would hold the loop: another time or place of
 * the file then counts as a change. */
#define TOOLBOX_LIBRARY_DIGEST_MAX (32u << 20)

/*
 * Find what @name means to the manifest in @folder (its real folder): with a '/' a path, absolute
 * or relative to that; without, a file beside the manifest, then in @library_dir (may be NULL),
 * then the dynamic linker's. 0 or -ENOMEM; whether the file is there is seen when it is loaded.
 */
int toolbox_library_find(const char *name, const char *folder, const char *library_dir,
	struct toolbox_library *ret_library);

void toolbox_library_deinit(struct toolbox_library *library);

/* Note where the dynamic linker found it. 0 or -ENOMEM. */
int toolbox_library_set_file(struct toolbox_library *library, const char *file);

/* Look at the file and take note of what it is now. 0, or a negative errno (there is none). */
int toolbox_library_look(struct toolbox_library *library);

/* Take note of what is known already of @other, which has the same path. 0 or -ENOMEM. */
int toolbox_library_look_like(struct toolbox_library *library, const struct toolbox_library *other);

/* Whether both are the same file and were the same when they were looked at. */
bool toolbox_library_is_same(
	const struct toolbox_library *library, const struct toolbox_library *other);

/* Return whether the file is unchanged, by its bytes (which are read only when its stamp does not
 * prove it; then the stamp is taken anew). Return false for a library that is known only by a
 * linker name. */
bool toolbox_library_is_unchanged(struct toolbox_library *library);
