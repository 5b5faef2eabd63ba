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
 * A list of shell lines is read as the equivalent manifest (manifest/array_file.h).
 *
 * One mistake refuses the whole manifest; all mistakes found together are reported together.
 */

/* Most bytes of a manifest. */
#define MANIFEST_BYTES_MAX (4u << 20)

/* Room for an id, with its NUL. */
#define MANIFEST_ID_BYTES (TOOLBOX_ID_BYTES + 1)

/* The schema, memory and paths for reading manifests: made once for many of them. */
struct manifest_reader;

/* Make a reader, with libraries also from @library_dir ($PREFIX/lib/toolboxd; may be NULL; copied).
 * NULL when memory is short. */
struct manifest_reader *manifest_reader_new(const char *library_dir);

/* Set the time to check one example or default (limits.check_ms); without it, SCHEMA_CHECK_MS. */
void manifest_reader_limit_checks(struct manifest_reader *reader, uint32_t ms);

/* Set the most tools taken from the list of a server (limits.tools); without it, all. */
void manifest_reader_limit_tools(struct manifest_reader *reader, size_t tools_max);

/* Return whether no tool of @package, which has its id, kind and `off`, is offered. */
typedef bool (*manifest_leaves_out_function)(const void *data, const struct package *package);

/* Read no tools of a package left out by @leaves_out, and mark it (package.is_left_out); with NULL,
 * read all tools. @data outlives the reader. */
void manifest_reader_leave_out(
	struct manifest_reader *reader, manifest_leaves_out_function leaves_out, const void *data);

/* Read the manifest of a toolbox that is left out for its mistakes, too. Without this, only its id,
 * kind and reason are looked at (manifest/off.h). */
void manifest_reader_check_off(struct manifest_reader *reader);

/* Return whether @reader would leave out @package, read earlier. */
bool manifest_reader_leaves_out(
	const struct manifest_reader *reader, const struct package *package);

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

/* After MANIFEST_E_REFUSED: return whether the bytes of the file alone are the reason. */
bool manifest_is_refused_for_good(const struct manifest_reader *reader);

/* After MANIFEST_IS_LIST: read the servers of the file, with texts of manifests for
 * manifest_read_text(), into the zeroed @ret_entries. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
int manifest_read_servers(struct manifest_reader *reader, struct mcp_server_entries *ret_entries,
	struct diagnostics *problems);

/* After MANIFEST_IS_LIST, or a refusal for good: append the file, @path, in its state at the
 * reading, to @origins. 0 or -ENOMEM. */
int manifest_take_origin(
	const struct manifest_reader *reader, const char *path, struct origins *origins);

/*
 * Read a manifest without a file of its own: the @size bytes at @text. It is made from the file or
 * folder @path, in the same folder. The lines of the problems mean nothing. Results as of
 * manifest_read().
 */
int manifest_read_text(struct manifest_reader *reader, const char *path, const char *text,
	size_t size, struct package **ret_package, struct diagnostics *problems);

/*
 * Give the toolbox of @package the tools described by its host: the array @tools of @described,
 * whose entries are checked like entries of a manifest. 0, MANIFEST_E_REFUSED (then it has no
 * tools; the places of the problems are in the description), or -ENOMEM.
 */
int manifest_take_tools(struct manifest_reader *reader, const struct json_tape *described,
	uint32_t tools, struct package *package, struct diagnostics *problems);

/* One toolbox described by a host, or the reasons against it. */
struct member_toolbox {
	char *id;                /* its own, else the host's name for it */
	struct toolbox *toolbox; /* the package's; NULL: it is not offered */
	struct diagnostics problems;
	struct skipped_list skipped;
};

struct member_toolboxes {
	struct member_toolbox *items;
	size_t n_items;

	/* Return whether the toolbox @id of @entry_point is left out as a whole: then it has no
	 * tools. NULL: no toolbox is left out. */
	bool (*is_left_out)(const void *data, const char *id, const char *entry_point);
	const void *data;
};

void member_toolboxes_deinit(struct member_toolboxes *members);

/*
 * Add the toolboxes described by the host of @package (@described, an object) to @package, of a
 * kind with members, and all named toolboxes to @members, which has no items yet. Each fails alone.
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

/* Write the id of the file or folder @path, for a report of a failure: `toolbox_id` if readable,
 * else the stem. */
void manifest_id(const char *path, char ret_id[MANIFEST_ID_BYTES]);

/* Return whether the file of @package still has the same bytes. They are read only if the stamp
 * proves nothing; then the stamp is taken anew. */
bool manifest_is_unchanged(struct package *package);

CLEANUP_DEFINE(manifest_reader, struct manifest_reader *, manifest_reader_free)
