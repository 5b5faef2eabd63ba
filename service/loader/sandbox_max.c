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

#define E_REFUSED 1

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

/* Set *@ret_real to @path with all links resolved, which the caller frees; NULL: it does not exist,
 * or is closed. Return 0 or -ENOMEM. */
static int find_real(const char *path, char **ret_real)
{
	*ret_real = realpath(path, NULL);
	return *ret_real || errno != ENOMEM ? 0 : -ENOMEM;
}

/* Set *@ret_is_one to whether @folder is a registration folder. */
static int is_registration_folder(const struct config *config, const char *folder, bool *ret_is_one)
{
	bool is_one = false;
	int r = 0;

	for (size_t i = 0; r == 0 && !is_one && i < config->toolbox_dirs.n_items; i++) {
		cleanup_free char *real = NULL;

		r = find_real(config->toolbox_dirs.items[i], &real);
		is_one = real && strcmp(real, folder) == 0;
	}
	*ret_is_one = is_one;
	return r;
}

/* Find the folder of the manifest or of the drop-in programs. */
static int find_manifest_folder(
	const struct config *config, const struct package *package, struct own_folders *own)
{
	struct stat status;
	int r = find_real(package->file, &own->manifest);

	if (r < 0 || !own->manifest)
		return r;
	if (stat(own->manifest, &status) < 0) {
		free(take_ptr(own->manifest));
		return 0;
	}
	if (!S_ISDIR(status.st_mode))
		dirname(own->manifest);
	return is_registration_folder(config, own->manifest, &own->is_shared);
}

static int find_state_folder(const struct package *package, struct own_folders *own)
{
	cleanup_free char *folder = NULL;
	cleanup_free char *path = NULL;
	int r = paths_state(&folder);

	if (r < 0 || !folder)
		return r;
	if (asprintf(&path, "%s/%s", folder, package->id) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return find_real(path, &own->state);
}

/* Set *@ret_is_inside to whether @path, all links resolved, is inside of a path in `write`. */
static int is_in_written(const struct sandbox_paths *write, const char *path, bool *ret_is_inside)
{
	bool is_inside = false;
	int r = 0;

	for (size_t i = 0; r == 0 && !is_inside && i < write->list.n_items; i++) {
		cleanup_free char *real = NULL;

		r = find_real(write->list.items[i], &real);
		is_inside = real && strcmp(real, path) != 0 && is_within(path, real);
	}
	*ret_is_inside = is_inside;
	return r;
}

/* Set *@ret_reason to why @path, which is in @write or only read, is refused, or to NULL. */
static int judge_path(const char *path, bool is_written, const struct sandbox_paths *write,
	const struct own_folders *own, const char **ret_reason)
{
	cleanup_free char *real = NULL;
	bool is_inside;
	int r = find_real(path, &real);

	*ret_reason = NULL;
	if (r < 0)
		return r;
	if (!real)
		*ret_reason = errno == ENOENT ? "does not exist" : "cannot be looked at";
	else if (!is_within(real, own->state) &&
		 (!is_within(real, own->manifest) || (is_written && own->is_shared)))
		*ret_reason = "is outside of the toolbox's own folder and of its state folder";
	if (*ret_reason)
		return 0;
	r = is_in_written(write, real, &is_inside);
	if (is_inside)
		*ret_reason = "is inside of another path that may be written; leave it out";
	return r;
}

/* Return 0, E_REFUSED with the reason in @refusal, or a negative errno. */
static int check_paths(const char *key, const struct sandbox_paths *paths,
	const struct sandbox_paths *write, const struct own_folders *own,
	const struct config *config, struct sandbox_refusal *refusal)
{
	/* The operator has named the others. */
	for (size_t i = 0; i < paths->list.n_items - paths->n_operator; i++) {
		const char *reason;
		int r = judge_path(paths->list.items[i], paths == write, write, own, &reason);

		if (r < 0)
			return r;
		if (!reason)
			continue;
		snprintf(refusal->pointer, sizeof(refusal->pointer), "/sandbox/%s/%zu", key, i);
		snprintf(refusal->text, sizeof(refusal->text),
			"%s %s; toolboxd.sandbox_max of the configuration is \"%s\", and only "
			"\"none\" allows it",
			paths->list.items[i], reason, sandbox_class_name(config->sandbox_max));
		return E_REFUSED;
	}
	return 0;
}

static int check_all_paths(
	const struct config *config, const struct package *package, struct sandbox_refusal *refusal)
{
	const struct sandbox_paths *read = &package->sandbox.read;
	const struct sandbox_paths *write = &package->sandbox.write;
	cleanup(own_folders_deinit) struct own_folders own = {0};
	int r;

	if (read->list.n_items + write->list.n_items == 0)
		return 0;
	r = find_manifest_folder(config, package, &own);
	r = r ? r : find_state_folder(package, &own);
	r = r ? r : check_paths("read", read, write, &own, config, refusal);
	return r ? r : check_paths("write", write, write, &own, config, refusal);
}

bool sandbox_max_refuses(const struct config *config, const struct package *package,
	struct sandbox_refusal *ret_refusal)
{
	const struct toolbox_sandbox *sandbox = &package->sandbox;
	bool has_unix = sandbox->class <= SANDBOX_NET && sandbox->has_unix;
	int r;

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
	if (config->sandbox_max == SANDBOX_NONE || sandbox->class >= SANDBOX_COMMAND)
		return false;
	r = check_all_paths(config, package, ret_refusal);
	if (r < 0) {
		*ret_refusal = (struct sandbox_refusal){.pointer = ""};
		snprintf(ret_refusal->text, sizeof(ret_refusal->text), "%s", strerror(-r));
	}
	return r != 0;
}
