/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/skipped.h"
#include "catalogue/package.h"
#include "catalogue/toolbox.h"
#include "manifest/diagnose.h"
#include "mcp/client/servers.h"
#include "util/cleanup.h"

/*
 * A manifest: `toolbox.d/<toolbox_id>.json` (contract.md, Manifest).
 *
 *   bytes ─reader▶ tape ─manifest schema▶ shape ─names, functions, schemas, examples▶ package
 *
 * A list of shell lines is read as the manifest that it means (manifest/array_file.h).
 *
 * One mistake refuses the whole manifest; all mistakes that can be found at once are reported at
 * once.
 */

/* Most bytes of a manifest. */
#define MANIFEST_BYTES_MAX (4u << 20)

/* Room for an id, with its NUL. */
#define MANIFEST_ID_BYTES (TOOLBOX_ID_BYTES + 1)

/* The schema, memory and paths for reading manifests: made once for many of them. */
struct manifest_reader;

/* Make a reader that looks for libraries in @library_dir, too ($PREFIX/lib/toolboxd; may be NULL;
 * copied). NULL when memory is short. */
struct manifest_reader *manifest_reader_new(const char *library_dir);

/* Set the time to check one example or default (limits.check_ms); without it, SCHEMA_CHECK_MS. */
void manifest_reader_limit_checks(struct manifest_reader *reader, uint32_t ms);

/* Set the most tools that are taken from the list of a server (limits.tools); without it, all. */
void manifest_reader_limit_tools(struct manifest_reader *reader, size_t tools_max);

/* Give up a toolbox whose tools take more than @most_ms of this thread's time to read: it is
 * refused. When *@is_stopped becomes true, reading ends with -ECANCELED. @is_stopped outlives the
 * reader. Without this, there is no bound. */
void manifest_reader_bound(
	struct manifest_reader *reader, const atomic_bool *is_stopped, uint64_t most_ms);

/* Takes NULL. */
void manifest_reader_free(struct manifest_reader *reader);

/* Positive results. */
enum manifest_status {
	MANIFEST_E_REFUSED = 1, /* at least one error is among the problems */
	MANIFEST_IS_LIST,       /* it is a list of servers (mcp/client/servers.h) */
};

/*
 * Read the manifest at @path (its name ends in ".json"; the stem is the default id). Returns 0 with
 * *ret_package owned by the caller (one reference), MANIFEST_E_REFUSED, MANIFEST_IS_LIST, -ENOMEM,
 * or -ECANCELED (manifest_reader_bound). @problems may hold warnings in any case.
 */
int manifest_read(struct manifest_reader *reader, const char *path, struct package **ret_package,
	struct diagnostics *problems);

/* After MANIFEST_IS_LIST: read the servers of that file, whose texts of manifests are for
 * manifest_read_text(), into the zeroed @ret_entries. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
int manifest_read_servers(struct manifest_reader *reader, struct mcp_server_entries *ret_entries,
	struct diagnostics *problems);

/* After MANIFEST_IS_LIST: append that file, @path, to @origins, as it was when it was read. 0 or
 * -ENOMEM. */
int manifest_take_origin(
	const struct manifest_reader *reader, const char *path, struct origins *origins);

/*
 * Read a manifest that is in no file: the @size bytes at @text. It is made of the file or folder
 * @path, and has its folder. The lines of the problems mean nothing. Results as of manifest_read().
 */
int manifest_read_text(struct manifest_reader *reader, const char *path, const char *text,
	size_t size, struct package **ret_package, struct diagnostics *problems);

/*
 * Give the toolbox of @package the tools that its host has described: the array @tools of
 * @described, whose entries are checked as those of a manifest. 0, MANIFEST_E_REFUSED (then it has
 * no tools; the places of the problems are in the description), or -ENOMEM.
 */
int manifest_take_tools(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct package *package, struct diagnostics *problems);

/* One of the toolboxes that a host describes, or the reasons why it cannot be one. */
struct member_toolbox {
	char *id;                /* its own, else the name that its host gives it */
	struct toolbox *toolbox; /* the package's; NULL: it is not offered */
	struct diagnostics problems;
	struct skipped_list skipped;
};

struct member_toolboxes {
	struct member_toolbox *items;
	size_t n_items;

	/* Return whether the toolbox @id, that of @entry_point, is left out as a whole: it has no
	 * tools then. NULL: none is. */
	bool (*is_left_out)(const void *data, const char *id, const char *entry_point);
	const void *data;
};

void member_toolboxes_deinit(struct member_toolboxes *members);

/*
 * Add the toolboxes that the host of @package has described (@described, an object) to @package, of
 * a kind with members, and all that it names to @members, which has no items yet. Each fails alone.
 * The LOAD frame of @package names their tools then. 0, MANIFEST_E_REFUSED when @described has
 * another shape, or -ENOMEM; the caller deinits @members in any case.
 */
int manifest_take_members(struct manifest_reader *reader, const struct json_tape *described,
	struct package *package, struct member_toolboxes *members, struct diagnostics *problems);

/* Return the line of the place @pointer in the manifest at @path; 0 when it cannot be read. */
unsigned int manifest_line(const char *path, const char *pointer);

/* Return the name of the file or folder at @path without ".json": *ret_size bytes, not
 * NUL-terminated. */
const char *manifest_stem(const char *path, size_t *ret_size);

/* Return whether @text can be a toolbox's id (contract.md, Names). */
bool manifest_is_id(const char *text);

/* Write the id of the file or folder @path, for a report that it cannot be loaded: its `toolbox_id`
 * if that can be read, else its stem. */
void manifest_id(const char *path, char ret_id[MANIFEST_ID_BYTES]);

/* Return whether the file that @package was read from still has the same bytes. They are read only
 * when its stamp does not prove it; then the stamp is taken anew. */
bool manifest_is_unchanged(struct package *package);

CLEANUP_DEFINE(manifest_reader, struct manifest_reader *, manifest_reader_free)
