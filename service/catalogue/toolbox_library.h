/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "json/reader.h"
#include "util/file/sealed_file.h"
#include "util/file/stamp.h"

/*
 * A library as a manifest names it, and the state of its file at the last look: the same state
 * again means no change. The libraries of a toolbox are a chain, in the order of `libraries`. A
 * function is about one library, unless its comment has "each library".
 */
struct toolbox_library {
	char *path;                /* as it is loaded: absolute, or a name for the dynamic linker */
	char *file;                /* its path; NULL: not known yet (a linker name, unchecked) */
	struct stamp stamp;        /* stamp of its file */
	uint64_t digest;           /* digest of its bytes, or of the stamp when they are too many */
	struct sealed_file *copy;  /* the bytes for its hosts; NULL: they load the file */
	atomic_uint_fast64_t seen; /* stamp_fold() of the stamp, for the loop */
	struct toolbox_library *next; /* owned; NULL: this is the last one */
};

/* The bytes of a larger file are not read: another time or place of the file then counts as a
 * change. */
#define TOOLBOX_LIBRARY_DIGEST_MAX SEALED_FILE_BYTES_MAX

/*
 * Find the library meant by @name in the manifest in @folder (its real folder): with a '/' a path,
 * absolute or relative to @folder; without, a file beside the manifest, then in @library_dir (may
 * be NULL), then the dynamic linker's. 0 or -ENOMEM; whether the file exists shows at its loading.
 */
int toolbox_library_find(const char *name, const char *folder, const char *library_dir,
	struct toolbox_library *ret_library);

/* Free the members, and each library after @library. */
void toolbox_library_deinit(struct toolbox_library *library);

/* Note where the dynamic linker found it. 0 or -ENOMEM. */
int toolbox_library_set_file(struct toolbox_library *library, const char *file);

/* Return whether it was found by path. The dynamic linker finds any other library by its name. */
static inline bool toolbox_library_is_path(const struct toolbox_library *library)
{
	return library->path && strchr(library->path, '/');
}

/* Look at the file and note its present state, with a copy if it was found by path. 0, or a
 * negative errno (no file). */
int toolbox_library_look(struct toolbox_library *library);

/* Take over the noted state of @other, a library with the same path. 0 or -ENOMEM. */
int toolbox_library_look_like(struct toolbox_library *library, const struct toolbox_library *other);

/* Return a digest of the bytes of each library: the digest of an only library itself. */
uint64_t toolbox_library_digest(const struct toolbox_library *library);

/* Write the copy of each library, NULL for one without, to @ret_copies, of @n_max. */
void toolbox_library_list_copies(
	const struct toolbox_library *library, const struct sealed_file **ret_copies, size_t n_max);

/* Return whether each library of both is the same file and was the same at the last look. */
bool toolbox_library_is_same(
	const struct toolbox_library *library, const struct toolbox_library *other);

/* Return whether the file of each library is unchanged, by its bytes (read only if its stamp proves
 * nothing; then the stamp is taken anew). Return false if one is known only by a linker name. */
bool toolbox_library_is_unchanged(struct toolbox_library *library);

/* Return whether the file has the same stamp as at the last look. From the loop. */
bool toolbox_library_has_stamp(const struct toolbox_library *library);

/* Return the same of each library without a copy, found by path. */
static inline bool toolbox_library_is_current(const struct toolbox_library *library)
{
	for (; library; library = library->next)
		if (!library->copy && toolbox_library_is_path(library) &&
			!toolbox_library_has_stamp(library))
			return false;
	return true;
}

/* Return the member @key about the library number @index in @loaded, the payload of a LOADED frame,
 * or JSON_NONE: `sealed`, whether its copy was loaded, or `library`, its file. Without a list of
 * libraries, the payload itself is about the only one. */
uint32_t toolbox_library_find_loaded(
	const struct json_tape *loaded, uint32_t index, const char *key);

/* Return whether the sender of @loaded (the payload of a LOADED frame, @size bytes) has the bytes
 * of the last look at each library: it reports the copy, or the file is still the same. */
bool toolbox_library_was_loaded(
	const struct toolbox_library *library, const char *loaded, size_t size);
