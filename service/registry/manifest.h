/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "registry/problem.h"
#include "registry/toolbox.h"

/*
 * A manifest: `toolbox.d/<toolbox_id>.json` (DESIGN §3).
 *
 *   bytes ─reader▶ tape ─manifest schema▶ shape ─names, schemas, functions, examples▶ struct toolbox
 *
 * One mistake refuses the whole toolbox; all mistakes that can be seen at once are told at once.
 */

/* A larger file is no manifest. */
#define MANIFEST_BYTES_MAX (4u << 20)

/* Positive results. */
enum manifest_status {
	MANIFEST_E_REFUSED = 1, /* at least one error is among the problems */
};

struct manifest_options {
	const char *library_dir; /* $PREFIX/lib/toolboxd: where libraries are looked for */
};

/*
 * Read the manifest at @path (its name ends in ".json"; the stem is the default id). Returns 0 with
 * *ret_toolbox owned by the caller (one reference), MANIFEST_E_REFUSED, -ENOMEM, or the negative
 * errno of reading the file, which is a problem too. @problems may hold warnings in any case.
 */
int manifest_read(const char *path, const struct manifest_options *options,
	struct toolbox **ret_toolbox, struct problems *problems);

/* The id that a file (or folder) named @path stands for, when nothing can be read in it: its stem.
 * @ret_id has room for @size bytes. */
void manifest_stem(const char *path, char *ret_id, size_t size);
