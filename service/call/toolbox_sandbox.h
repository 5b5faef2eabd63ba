/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/text/text_list.h"

/*
 * The sandbox of a toolbox's hosts (contract.md, Sandbox), as manifests, the configuration and the
 * LOAD frame write it:
 *
 *   {"class": "net", "read": ["/srv/data"], "write": [], "unix": false}
 *
 * A manifest may name a setting, "$NAME", in place of a path. The load replaces it by the paths of
 * the setting (loader/operator/paths.h), and then adds the fences around them, which only the LOAD
 * frame has:
 *
 *   {"class": "compute", "read": ["/home/me"], "hidden": ["/home/me/.ssh"], "kept":
 * ["/home/me/.profile"]}
 */

/* From narrow to wide: a class allows everything allowed by the classes before. */
enum sandbox_class {
	SANDBOX_COMPUTE,
	SANDBOX_NET,
	SANDBOX_COMMAND,
	SANDBOX_NONE,
};
#define SANDBOX_N_CLASSES 4

/* Absolute paths. */
struct sandbox_paths {
	struct text_list list;
	bool is_given;     /* an empty list may be given, too */
	size_t n_operator; /* the last ones, which are the operator's, not the manifest's */
};

struct toolbox_sandbox {
	enum sandbox_class class;
	bool has_class;             /* given, not the default */
	struct sandbox_paths read;  /* readable files and folders, beside the class's */
	struct sandbox_paths write; /* the same, for writing and reading */
	struct sandbox_paths
		hidden; /* never opened, whatever `read` and `write` have; need not exist */
	struct sandbox_paths kept; /* the same, for writing alone */
	bool has_unix;             /* classes compute and net: unix sockets, too */
	bool has_unix_given;
	uint32_t memory_mb; /* limit of the address space; 0: none. Not part of the
	                             * object */
};

/* The address space of hosts with a library, unless `limits.memory_mb` has another. */
#define SANDBOX_MEMORY_MB 256

/* Most paths in one list: each costs a descriptor and a rule at every start of a host. */
#define SANDBOX_PATHS_MAX 64

/* Most paths in a list of the LOAD frame, which has the paths of the operator and the fences, too.
 * */
#define SANDBOX_LOADED_PATHS_MAX 512

enum sandbox_status {
	SANDBOX_E_MALFORMED = 1, /* not of the form above; the mistake has the expected form */
};

/* The place in the object, and the expected value. */
struct sandbox_mistake {
	uint32_t token;
	const char *expected; /* a constant: "must be …" */
};

/* The names of the classes, by value; NULL ends them. */
extern const char *const sandbox_class_names[];

/* Return whether @path is the name of a setting: $, then letters, digits and '_'; for a setting of
 * another toolbox after the id of that toolbox and a dot. */
bool sandbox_path_is_setting(const char *path);

/* Append @path to @paths, which is given then, as text_list_take() does. 0 or -ENOMEM. */
int sandbox_paths_take(struct sandbox_paths *paths, char *path);

/* "compute", "net", "command", "none". */
const char *sandbox_class_name(enum sandbox_class class);

/*
 * Read the object at @token: its members, unless null, replace the members of @sandbox. Paths are
 * made absolute, a relative one from @folder (NULL: none may be relative, or name a setting). 0,
 * SANDBOX_E_MALFORMED
 * with @ret_mistake filled, or -ENOMEM; @sandbox is the caller's to deinit in any case.
 */
int toolbox_sandbox_read(const struct json_tape *tape, uint32_t token, const char *folder,
	struct toolbox_sandbox *sandbox, struct sandbox_mistake *ret_mistake);

/* Replace the members of @sandbox by the given members of @by (has_class, is_given,
 * has_unix_given). Return 0 or -ENOMEM. */
int toolbox_sandbox_override(struct toolbox_sandbox *sandbox, const struct toolbox_sandbox *by);

/* Write the object. */
void toolbox_sandbox_write(const struct toolbox_sandbox *sandbox, struct buffer *out);

/* An order of sandboxes: 0 for two of equal permissions. */
int toolbox_sandbox_compare(
	const struct toolbox_sandbox *left, const struct toolbox_sandbox *right);

void toolbox_sandbox_deinit(struct toolbox_sandbox *sandbox);
