/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/sandbox_max.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/file/paths.h"

/* The folders of one toolbox, with all links resolved; NULL: no such folder. */
struct own_folders {
	char *manifest;
	char *state;
	bool is_shared; /* the manifest's folder is a registration folder */
};

static void own_folders_deinit(struct own_folders *own)
{
	free(own->manifest);
	free(own->state);
}

static bool is_within(const char *path, const char *folder)
{
	size_t size = folder ? strlen(folder) : 0;

	return size > 0 && strncmp(path, folder, size) == 0 &&
	       (path[size] == '\0' || path[size] == '/' || strcmp(folder, "/") == 0);
}

/* Return FOLDER/ID with all links resolved, which the caller frees; NULL when it does not exist. */
static char *resolve_below(const char *folder, int size, const char *id)
{
	cleanup_free char *path = NULL;

	return asprintf(&path, "%.*s/%s", size, folder, id) < 0 ? NULL : realpath(path, NULL);
}

static bool is_registration_folder(const struct config *config, const char *folder)
{
	bool is_one = false;

	for (size_t i = 0; !is_one && i < config->toolbox_dirs.n_items; i++) {
		cleanup_free char *real = realpath(config->toolbox_dirs.items[i], NULL);

		is_one = real && strcmp(real, folder) == 0;
	}
	return is_one;
}

/* Return the folder of the manifest or of the drop-in programs, which the caller frees; or NULL. */
static char *find_manifest_folder(const struct package *package)
{
	cleanup_free char *real = realpath(package->file, NULL);
	struct stat status;

	if (!real || stat(real, &status) < 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return take_ptr(real);
	return strdup(dirname(real));
}

static char *find_state_folder(const struct package *package)
{
	cleanup_free char *folder = paths_state();

	return folder ? resolve_below(folder, (int)strlen(folder), package->id) : NULL;
}

/* Return whether @path, all links resolved, is inside of a path in `write`. */
static bool is_in_written(const struct sandbox_paths *write, const char *path)
{
	bool is_inside = false;

	for (size_t i = 0; !is_inside && i < write->n_items; i++) {
		cleanup_free char *real = realpath(write->items[i], NULL);

		is_inside = real && strcmp(real, path) != 0 && is_within(path, real);
	}
	return is_inside;
}

/* Return why @path, which is in @write or only read, is refused, or NULL. */
static const char *judge_path(const char *path, bool is_written, const struct sandbox_paths *write,
	const struct own_folders *own)
{
	cleanup_free char *real = realpath(path, NULL);
	bool is_own;

	if (!real)
		return errno == ENOENT ? "does not exist" : "cannot be looked at";
	is_own = is_within(real, own->state) ||
		 (is_within(real, own->manifest) && !(is_written && own->is_shared));
	if (!is_own)
		return "is outside of the toolbox's own folder and of its state folder";
	if (is_in_written(write, real))
		return "is inside of another path that may be written; leave it out";
	return NULL;
}

static bool refuse_paths(const char *key, const struct sandbox_paths *paths,
	const struct sandbox_paths *write, const struct own_folders *own,
	const struct config *config, struct sandbox_refusal *refusal)
{
	/* The operator has named the others. */
	for (size_t i = 0; i < paths->n_items - paths->n_operator; i++) {
		const char *reason = judge_path(paths->items[i], paths == write, write, own);

		if (!reason)
			continue;
		snprintf(refusal->pointer, sizeof(refusal->pointer), "/sandbox/%s/%zu", key, i);
		snprintf(refusal->text, sizeof(refusal->text),
			"%s %s; toolboxd.sandbox_max of the configuration is \"%s\", and only "
			"\"none\" allows it",
			paths->items[i], reason, sandbox_class_name(config->sandbox_max));
		return true;
	}
	return false;
}

static bool refuse_all_paths(
	const struct config *config, const struct package *package, struct sandbox_refusal *refusal)
{
	const struct sandbox_paths *read = &package->sandbox.read;
	const struct sandbox_paths *write = &package->sandbox.write;
	cleanup(own_folders_deinit) struct own_folders own = {0};

	if (read->n_items + write->n_items == 0)
		return false;
	own.manifest = find_manifest_folder(package);
	own.is_shared = own.manifest && is_registration_folder(config, own.manifest);
	own.state = find_state_folder(package);
	return refuse_paths("read", read, write, &own, config, refusal) ||
	       refuse_paths("write", write, write, &own, config, refusal);
}

bool sandbox_max_refuses(const struct config *config, const struct package *package,
	struct sandbox_refusal *ret_refusal)
{
	const struct toolbox_sandbox *sandbox = &package->sandbox;
	bool has_unix = sandbox->class <= SANDBOX_NET && sandbox->has_unix;

	if (sandbox->class > config->sandbox_max ||
		(has_unix && config->sandbox_max <= SANDBOX_NET)) {
		*ret_refusal = (struct sandbox_refusal){.pointer = "/sandbox/class"};
		snprintf(ret_refusal->text, sizeof(ret_refusal->text),
			"the sandbox class \"%s\"%s is wider than \"%s\", the widest that "
			"toolboxd.sandbox_max of the configuration allows",
			sandbox_class_name(sandbox->class), has_unix ? " with unix sockets" : "",
			sandbox_class_name(config->sandbox_max));
		return true;
	}
	return config->sandbox_max != SANDBOX_NONE && sandbox->class < SANDBOX_COMMAND &&
	       refuse_all_paths(config, package, ret_refusal);
}
