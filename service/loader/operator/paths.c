/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json/document.h"
#include "json/member.h"
#include "json/writer.h"
#include "loader/operator/fences.h"
#include "loader/operator/state_folder.h"
#include "loader/settings.h"
#include "loader/tool_settings.h"
#include "util/cleanup.h"
#include "util/file/paths.h"
#include "util/text/text_list.h"

/* The setting with paths that are opened in spite of the fences. */
#define EXCEPTIONS "allow_secrets"

/* The settings of one package, on their way into its sandbox. */
struct resolving {
	const struct config *configuration;
	struct package *package;
	struct json_tape tape; /* the configuration of the package: the manifest's and the next */
	struct json_tape own;  /* the members of it that the operator has written */
	struct document *config;
	char *home;
	struct sandbox_refusal *refusal;
};

static void resolving_deinit(struct resolving *resolving)
{
	json_tape_deinit(&resolving->tape);
	json_tape_deinit(&resolving->own);
	document_free(resolving->config);
	free(resolving->home);
}

/* Return whether @setting is ID.NAME, a setting of another toolbox. */
static bool is_foreign(const char *setting)
{
	return strchr(setting, '.');
}

static int refuse_setting(struct resolving *resolving, const char *setting, const char *found)
{
	struct sandbox_refusal *refusal = resolving->refusal;

	snprintf(refusal->pointer, sizeof(refusal->pointer), "/config");
	snprintf(refusal->text, sizeof(refusal->text),
		"toolboxes.%.128s%s%.64s must be a path, or a list of at most %d paths, absolute "
		"or below ~/; found %.1024s",
		is_foreign(setting) ? "" : resolving->package->id, is_foreign(setting) ? "" : ".",
		setting, SANDBOX_PATHS_MAX, found);
	return OPERATOR_PATHS_E_REFUSED;
}

/* Return whether @text, of @size bytes, is absolute, `~`, or below `~`. */
static bool is_path(const char *text, size_t size)
{
	return strlen(text) == size &&
	       (text[0] == '/' || (text[0] == '~' && (text[1] == '\0' || text[1] == '/')));
}

/* Add the path at @token. A path below the home of a user without one is left out: the paths of a
 * manifest are for many users. */
static int add_path(struct resolving *resolving, const char *setting, const struct json_tape *tape,
	uint32_t token, struct text_list *paths)
{
	cleanup_free char *text = NULL;
	char *path = NULL;
	size_t size;

	if (json_type_at(tape, token) != JSON_STRING)
		return refuse_setting(resolving, setting, "another value");
	text = json_string_dup(tape, token, &size);
	if (!text)
		return -ENOMEM;
	if (!is_path(text, size))
		return refuse_setting(resolving, setting, text);
	if (*text == '~' && !resolving->home)
		return 0;
	if (asprintf(&path, "%s%s", *text == '~' ? resolving->home : "", text + (*text == '~')) < 0)
		return -ENOMEM;
	return text_list_take(paths, path);
}

/* Add the paths of the value @list of the setting @setting, a path or a list. */
static int add_setting(struct resolving *resolving, const char *setting,
	const struct json_tape *tape, uint32_t list, struct text_list *paths)
{
	int r = 0;

	if (list == JSON_NONE || json_type_at(tape, list) == JSON_NULL)
		return 0;
	if (json_type_at(tape, list) == JSON_STRING)
		return add_path(resolving, setting, tape, list, paths);
	if (json_type_at(tape, list) != JSON_ARRAY || json_count(tape, list) > SANDBOX_PATHS_MAX)
		return refuse_setting(resolving, setting, "another value");
	json_each_while(r == 0, at, tape, list)
		r = add_path(resolving, setting, tape, at, paths);
	return r;
}

/* Add the paths of @setting, ID.NAME: as the operator has written them, else from the member NAME
 * of the member ID of the toolbox's own configuration. Set @ret_is_operators as add_paths(). */
static int add_foreign_paths(struct resolving *resolving, const char *setting,
	struct text_list *paths, bool *ret_is_operators)
{
	cleanup(json_tape_cleanup) struct json_tape foreign = {0};
	const char *name = strchr(setting, '.') + 1;
	cleanup_free char *id = strndup(setting, (size_t)(name - setting) - 1);
	const struct config_toolbox *toolbox =
		id ? config_toolbox_find(resolving->configuration, id) : NULL;
	const char *text = toolbox && toolbox->config ? toolbox->config : "{}";
	uint32_t value;

	resolving->package->has_foreign_setting = true;
	resolving->package->settings =
		settings_digest(resolving->configuration, resolving->package);
	if (!id || json_tape_read(&foreign, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	value = json_find(&foreign, 0, name);
	if (value != JSON_NONE) {
		*ret_is_operators = true;
		return add_setting(resolving, setting, &foreign, value, paths);
	}
	value = json_find_typed_at(&resolving->own, 0, id, JSON_OBJECT);
	*ret_is_operators =
		value != JSON_NONE && json_find(&resolving->own, value, name) != JSON_NONE;
	value = json_find(&resolving->tape, 0, id);
	if (value != JSON_NONE && json_type_at(&resolving->tape, value) == JSON_OBJECT)
		value = json_find(&resolving->tape, value, name);
	return add_setting(resolving, setting, &resolving->tape, value, paths);
}

/* Add the paths of the setting @setting to @paths. An absent one has none. Set @ret_is_operators
 * when the operator has written it: else the manifest has. */
static int add_paths(struct resolving *resolving, const char *setting, struct text_list *paths,
	bool *ret_is_operators)
{
	if (is_foreign(setting))
		return add_foreign_paths(resolving, setting, paths, ret_is_operators);
	*ret_is_operators = json_find(&resolving->own, 0, setting) != JSON_NONE;
	return add_setting(resolving, setting, &resolving->tape,
		json_find(&resolving->tape, 0, setting), paths);
}

/* Let the toolbox read @paths as its setting @setting. */
static int set_setting(
	struct resolving *resolving, const char *setting, const struct text_list *paths)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	json_write_texts(&text, paths->items, paths->n_items);
	return buffer_status(&text) < 0 ||
			       document_set(resolving->config, setting, text.data, text.size) != 0
		       ? -ENOMEM
		       : 0;
}

/* Append the state folder of the toolbox to @paths. */
static int open_state_folder(struct resolving *resolving, struct sandbox_paths *paths)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = state_folder_find(resolving->package, resolving->refusal);

	if (r)
		return r < 0 ? r : OPERATOR_PATHS_E_REFUSED;
	json_write_text(&text, resolving->package->state_folder);
	if (buffer_status(&text) < 0 ||
		document_set(resolving->config, STATE_FOLDER_SETTING, text.data, text.size) != 0)
		return -ENOMEM;
	r = sandbox_paths_take(paths, strdup(resolving->package->state_folder));
	paths->n_operator += r == 0;
	return r;
}

/* Append the paths of the setting @setting to @paths, if the operator @is_operators has written it;
 * the defaults of a manifest are paths of the manifest. */
static int open_setting(struct resolving *resolving, const char *setting, bool is_operators,
	struct sandbox_paths *paths)
{
	cleanup(text_list_deinit) struct text_list resolved = {0};
	bool is_written = false;
	int r;

	if (strcmp(setting, STATE_FOLDER_SETTING) == 0)
		return is_operators ? open_state_folder(resolving, paths) : 0;
	r = add_paths(resolving, setting, &resolved, &is_written);
	if (r || is_written != is_operators)
		return r;
	for (size_t i = 0; r == 0 && i < resolved.n_items; i++) {
		r = sandbox_paths_take(paths, strdup(resolved.items[i]));
		paths->n_operator += r == 0 && is_operators;
	}
	return r ? r : set_setting(resolving, setting, &resolved);
}

/* Replace the names of settings in @paths: the operator's come last. */
static int open_settings(struct resolving *resolving, struct sandbox_paths *paths)
{
	cleanup(text_list_deinit) struct text_list given = paths->list;
	int r = 0;

	*paths = (struct sandbox_paths){.is_given = paths->is_given};
	for (size_t i = 0; r == 0 && i < given.n_items; i++)
		if (!sandbox_path_is_setting(given.items[i]))
			r = sandbox_paths_take(paths, strdup(given.items[i]));
	for (size_t i = 0; r == 0 && i < 2 * given.n_items; i++) {
		const char *item = given.items[i % given.n_items];

		if (sandbox_path_is_setting(item))
			r = open_setting(resolving, item + 1, i >= given.n_items, paths);
	}
	return r;
}

/* Put up the fences, for the kernel and for the toolbox. */
static int put_up_fences(struct resolving *resolving, const struct config *config)
{
	struct toolbox_sandbox *sandbox = &resolving->package->sandbox;
	cleanup(text_list_deinit) struct text_list exceptions = {0};
	cleanup(fences_deinit) struct fences fences = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	/* A manifest opens no secret. */
	int r = add_setting(resolving, EXCEPTIONS, &resolving->own,
		json_find(&resolving->own, 0, EXCEPTIONS), &exceptions);

	r = r ? r : set_setting(resolving, EXCEPTIONS, &exceptions);
	r = r ? r : fences_find(config, &fences);
	resolving->package->fences = r ? 0 : fences_digest(&fences);
	r = r ? r : fences_paths(&fences.hidden, resolving->home, &exceptions, &sandbox->hidden);
	r = r ? r : fences_paths(&fences.kept, resolving->home, NULL, &sandbox->kept);
	for (size_t i = 0; r == 0 && i < exceptions.n_items; i++) {
		r = sandbox_paths_take(&sandbox->read, strdup(exceptions.items[i]));
		sandbox->read.n_operator += r == 0;
	}
	if (r)
		return r;
	buffer_append_string(&text, "{\"hidden\":");
	json_write_texts(&text, fences.hidden.items, fences.hidden.n_items);
	buffer_append_string(&text, ",\"kept\":");
	json_write_texts(&text, fences.kept.items, fences.kept.n_items);
	buffer_append_char(&text, '}');
	if (buffer_status(&text) < 0 ||
		document_set(resolving->config, "fences", text.data, text.size) != 0)
		return -ENOMEM;
	return 0;
}

/* Return the first name of a setting in @paths, or NULL. */
static const char *first_setting(const struct sandbox_paths *paths)
{
	for (size_t i = 0; i < paths->list.n_items; i++)
		if (sandbox_path_is_setting(paths->list.items[i]))
			return paths->list.items[i];
	return NULL;
}

/* Refuse @setting in the sandbox that the configuration gives a toolbox without settings. */
static int refuse_kind(
	const struct package *package, const char *setting, struct sandbox_refusal *ret_refusal)
{
	snprintf(ret_refusal->pointer, sizeof(ret_refusal->pointer), "/sandbox");
	snprintf(ret_refusal->text, sizeof(ret_refusal->text),
		"toolboxes.%.128s.sandbox names the setting %.128s, which only a toolbox of the "
		"kind \"plugin\" has; expected a path",
		package->id, setting);
	return OPERATOR_PATHS_E_REFUSED;
}

/* Find the home folder; NULL: it does not exist. Return 0 or a negative errno. */
static int find_home(char **ret_home)
{
	cleanup_free char *home = NULL;
	struct stat status;
	int r = paths_home(&home);

	if (r < 0 || !home)
		return r;
	*ret_home = stat(home, &status) == 0 && S_ISDIR(status.st_mode) ? take_ptr(home) : NULL;
	return 0;
}

/* Read the configuration of the package. 0 or -ENOMEM. */
static int read_config(struct resolving *resolving)
{
	const struct config_toolbox *toolbox =
		config_toolbox_find(resolving->configuration, resolving->package->id);
	const char *text = resolving->package->config ? resolving->package->config : "{}";
	const char *own = toolbox && toolbox->config ? toolbox->config : "{}";

	if (json_tape_read(&resolving->tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_tape_read(&resolving->own, own, strlen(own), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	resolving->config = document_from_tape(&resolving->tape, 0);
	return resolving->config ? find_home(&resolving->home) : -ENOMEM;
}

/* Take the changed configuration. 0 or -ENOMEM. */
static int take_config(struct resolving *resolving)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *config;

	document_write(resolving->config, &text);
	config = buffer_take(&text, NULL);
	if (!config)
		return -ENOMEM;
	free(resolving->package->config);
	resolving->package->config = config;
	return package_prepare(resolving->package);
}

static bool do_fences_hold(const struct config *config, const struct package *package)
{
	cleanup(fences_deinit) struct fences fences = {0};

	return package->fences == 0 ||
	       (fences_find(config, &fences) == 0 && package->fences == fences_digest(&fences));
}

bool operator_settings_hold(const struct config *config, const struct package *package)
{
	return package->settings == settings_digest(config, package) &&
	       do_fences_hold(config, package) &&
	       (kind_facts(package->kind)->has_members || tool_settings_hold_in(config, package));
}

int operator_paths_resolve(
	const struct config *config, struct package *package, struct sandbox_refusal *ret_refusal)
{
	cleanup(resolving_deinit) struct resolving resolving = {
		.configuration = config, .package = package, .refusal = ret_refusal};
	struct toolbox_sandbox *sandbox = &package->sandbox;
	const char *setting = first_setting(&sandbox->read);
	int r;

	setting = setting ? setting : first_setting(&sandbox->write);
	if (!setting)
		return 0;
	if (package->kind != KIND_PLUGIN)
		return refuse_kind(package, setting, ret_refusal);
	r = read_config(&resolving);
	r = r ? r : open_settings(&resolving, &sandbox->read);
	r = r ? r : open_settings(&resolving, &sandbox->write);
	r = r ? r : put_up_fences(&resolving, config);
	return r ? r : take_config(&resolving);
}
