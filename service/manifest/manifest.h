/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/skipped.h"
#include "catalogue/package.h"
#include "catalogue/toolbox.h"
#include "manifest/diagnose.h"
#include "util/cleanup.h"

/*
 * A manifest: `toolbox.d/<toolbox_id>.json` (contract.md, Manifest).
 *
 *   bytes ─reader▶ tape ─manifest schema▶ shape ─names, functions, schemas, examples▶ struct
 * toolbox
 *
 * A list of shell lines is read as the manifest that it stands for (manifest/array_file.h).
 *
 * One mistake refuses the whole toolbox; all that can be seen at once are told at once.
 */

/* A larger file is no manifest. */
#define MANIFEST_BYTES_MAX (4u << 20)

/* Room for an id, with its NUL. */
#define MANIFEST_ID_BYTES (TOOLBOX_ID_BYTES + 1)

/* What reading manifests needs, made once for many of them. */
struct manifest_reader;

/* @library_dir: $PREFIX/lib/toolboxd, where libraries are looked for (may be NULL); copied.
 * NULL without memory. */
struct manifest_reader *manifest_reader_new(const char *library_dir);

/* Takes NULL. */
void manifest_reader_free(struct manifest_reader *reader);

/* Positive results. */
enum manifest_status {
	MANIFEST_E_REFUSED = 1, /* at least one error is among the problems */
};

/*
 * Read the manifest at @path (its name ends in ".json"; the stem is the default id). Returns 0 with
 * *ret_package owned by the caller (one reference), MANIFEST_E_REFUSED, or -ENOMEM. @problems may
 * hold warnings in any case.
 */
int manifest_read(struct manifest_reader *reader, const char *path, struct package **ret_package,
	struct diagnostics *problems);

/*
 * The same of a manifest that stands in no file: the @size bytes at @text. @path is what it is made
 * of: its folder is where the manifest would stand. The lines of problems mean nothing.
 */
int manifest_read_text(struct manifest_reader *reader, const char *path, const char *text,
	size_t size, struct package **ret_package, struct diagnostics *problems);

/*
 * Give @toolbox, of a kind whose hosts tell its tools, those that its host has told: the array
 * @tools of @described, of entries as a manifest has them, checked as those of one. 0,
 * MANIFEST_E_REFUSED (then it has none; the places of the problems are in what was described), or
 * -ENOMEM.
 */
int manifest_take_tools(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct package *package, struct diagnostics *problems);

/* One of the toolboxes that a host tells, or why it is none. */
struct member_toolbox {
	char *id;                /* its own, else what its host knows it by */
	struct toolbox *toolbox; /* of the package; NULL: it is not offered */
	struct diagnostics problems;
	struct skipped_list skipped;
};

struct member_toolboxes {
	struct member_toolbox *items;
	size_t n_items;
};

void member_toolboxes_deinit(struct member_toolboxes *members);

/*
 * Make the members of @package, of a kind that has members, of what its host has told: the object @described.
 * Each fails alone. The tools of all are @package's then, and its LOAD frame names them. 0,
 * MANIFEST_E_REFUSED when @described is not what it should be, or -ENOMEM; @ret_members is the caller's to
 * deinit in any case.
 */
int manifest_take_members(struct manifest_reader *reader, const struct json_tape *described,
	struct package *package, struct member_toolboxes *ret_members,
	struct diagnostics *problems);

/* The line at which @pointer stands in the manifest at @path; 0 when it cannot be told. */
unsigned int manifest_line(const char *path, const char *pointer);

/* The name of the file or folder at @path without ".json": *ret_size bytes, not NUL-terminated. */
const char *manifest_stem(const char *path, size_t *ret_size);

/* Whether @text can be a toolbox's id (contract.md, Names). */
bool manifest_is_id(const char *text);

/* The id that the file or folder @path claims, or would have: its `toolbox_id` where that can be
 * read, else its stem. For naming what cannot be loaded. */
void manifest_id(const char *path, char ret_id[MANIFEST_ID_BYTES]);

/* Whether the file that @toolbox was read from still holds the same bytes (which are only read when
 * its stamp does not prove it; then the stamp is taken anew). */
bool manifest_is_unchanged(struct package *package);

CLEANUP_DEFINE(manifest_reader, struct manifest_reader *, manifest_reader_free)
