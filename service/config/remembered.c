/* SPDX-License-Identifier: Apache-2.0 */
#include "config/remembered.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/profiles.h"
#include "config/secret_line.h"
#include "json/pointer.h"
#include "util/cleanup.h"
#include "util/file.h"
#include "util/paths.h"

#define SYSTEM_FOLDER  "/etc/toolboxd"
#define USER_FOLDER    "toolboxd"
#define PROFILE_SUFFIX ".json"

/* ── folders ─────────────────────────────────────────────────────────────────────────────────── */

/* Return $XDG_CONFIG_HOME/toolboxd, which the caller frees; NULL when there is none. */
static char *user_folder(void)
{
	cleanup_free char *home = paths_xdg_home("XDG_CONFIG_HOME", ".config");
	char *folder = NULL;

	return home && asprintf(&folder, "%s/" USER_FOLDER, home) >= 0 ? folder : NULL;
}

static int add_folders(struct config_reader *reader)
{
	int r = text_list_add(&reader->config->folders, SYSTEM_FOLDER);
	char *user = reader->stack.drops_user ? NULL : user_folder();

	return r == 0 && user ? text_list_take(&reader->config->folders, user) : r;
}

/* Return FOLDER/NAME, which the caller frees. */
static char *join_path(const char *folder, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

void config_remembered_each_path(void (*visit)(void *data, const char *path),
	void (*visit_folder)(void *data, const char *path), void *data)
{
	cleanup_free char *user = user_folder();
	const char *const folders[] = {SYSTEM_FOLDER, user};

	for (size_t i = 0; i < 2 && folders[i]; i++) {
		cleanup_free char *allow = join_path(folders[i], REMEMBERED_ALLOW);
		cleanup_free char *disabled = join_path(folders[i], REMEMBERED_DISABLED);
		cleanup_free char *profiles = join_path(folders[i], REMEMBERED_PROFILES);
		cleanup_free char *tokens = join_path(folders[i], REMEMBERED_TOKENS);

		if (!allow || !disabled || !profiles || !tokens)
			return;
		visit(data, tokens);
		visit(data, allow);
		visit(data, disabled);
		visit_folder(data, profiles);
	}
}

/* ── one file ────────────────────────────────────────────────────────────────────────────────── */

/* Report the mistake @text about the token @token of the file at @path. */
static void close_at(struct config_reader *reader, const char *path, const struct buffer *bytes,
	const struct json_tape *tape, uint32_t token, const char *text)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	unsigned int line;
	unsigned int column;

	json_pointer_write(tape, token, &pointer);
	json_locate(bytes->data, json_at(tape, token)->offset, &line, &column);
	if (!buffer_terminate(&pointer))
		reader->error = -ENOMEM;
	else
		diagnostic_report(&reader->closing.sink, DIAGNOSTIC_ERROR, path, line, pointer.data,
			"%s", text);
}

/* Read and parse the file at @path, on which other users must not have the rights @forbidden. Return whether it is
 * there and is JSON; anything but an absent file is reported. */
static bool read_file(struct config_reader *reader, const char *path, mode_t forbidden,
	struct buffer *bytes, struct json_tape *tape)
{
	const struct diagnostic_sink *sink = &reader->closing.sink;
	struct json_error error;
	unsigned int line;
	unsigned int column;
	int r = forbidden ? secret_line_read(path, forbidden, REMEMBERED_BYTES_MAX, bytes)
			  : file_read(path, REMEMBERED_BYTES_MAX, bytes);

	if (r == -ENOENT || r == -ENOTDIR)
		return false;
	if (r < 0 && file_error_is_shortage(r)) {
		reader->error = r;
		return false;
	}
	if (r == -EFBIG)
		diagnostic_report(sink, DIAGNOSTIC_ERROR, path, 0, "",
			"the file has more than %u bytes", REMEMBERED_BYTES_MAX);
	else if (forbidden && r == -EPERM)
		diagnostic_report(sink, DIAGNOSTIC_ERROR, path, 0, "",
			"may be read and written only by its owner (mode 0600)");
	else if (r < 0)
		diagnostic_report(
			sink, DIAGNOSTIC_ERROR, path, 0, "", "cannot be read: %s", strerror(-r));
	if (r < 0)
		return false;
	r = json_tape_read(tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		reader->error = r;
	if (r > 0) {
		json_locate(bytes->data, error.offset, &line, &column);
		diagnostic_report(sink, DIAGNOSTIC_ERROR, path, line, "", "%s (column %u)",
			error.message, column);
	}
	return r == 0;
}

/* ── lists of names ──────────────────────────────────────────────────────────────────────────── */

static int refuse_file(struct remembered_mistake *mistake, uint32_t token, const char *text)
{
	*mistake = (struct remembered_mistake){token, text};
	return REMEMBERED_E_WRONG;
}

/* Add the member @key of the entry at @entry, a string or "", to @list. */
static int read_entry_member(const struct json_tape *tape, uint32_t entry, const char *key,
	struct text_list *list, struct remembered_mistake *mistake)
{
	uint32_t token = json_find(tape, entry, key);
	char *text;
	size_t size;

	if (token == JSON_NONE)
		return text_list_add(list, "");
	if (json_type_at(tape, token) != JSON_STRING)
		return refuse_file(mistake, token, "must be a string");
	text = json_string_dup(tape, token, &size);
	if (text && (strlen(text) != size || (strcmp(key, "name") == 0 && size == 0))) {
		free(text);
		return refuse_file(
			mistake, token, "must be a text that is not empty, without U+0000");
	}
	return text_list_take(list, text);
}

/* Read the entry at @entry. */
static int read_entry(const struct json_tape *tape, uint32_t entry, struct config_remembered *names,
	struct remembered_mistake *mistake)
{
	static const char *const keys[] = {"name", "since", "by"};
	struct text_list *const lists[] = {&names->names, &names->since, &names->by};
	int r = 0;

	if (json_type_at(tape, entry) != JSON_OBJECT || json_find(tape, entry, "name") == JSON_NONE)
		return refuse_file(mistake, entry, "must be an object with \"name\"");
	for (uint32_t key = json_first(tape, entry); key < json_end(tape, entry);
		key = json_next_key(tape, key)) {
		size_t i = 0;

		while (i < 3 && !json_string_equals(tape, key, keys[i], strlen(keys[i])))
			i++;
		if (i == 3)
			return refuse_file(mistake, key,
				"is an unknown key; expected \"name\", \"since\" or \"by\"");
	}
	for (size_t i = 0; r == 0 && i < 3; i++)
		r = read_entry_member(tape, entry, keys[i], lists[i], mistake);
	return r;
}

int remembered_read_list(const struct json_tape *tape, struct config_remembered *names,
	struct remembered_mistake *ret_mistake)
{
	int r = 0;

	if (json_type_at(tape, 0) != JSON_ARRAY)
		return refuse_file(
			ret_mistake, 0, "must be a list of {\"name\", \"since\", \"by\"}");
	for (uint32_t entry = json_first(tape, 0); r == 0 && entry < json_end(tape, 0);
		entry = json_next(tape, entry))
		r = read_entry(tape, entry, names, ret_mistake);
	return r;
}

void remembered_deinit(struct config_remembered *names)
{
	text_list_deinit(&names->names);
	text_list_deinit(&names->since);
	text_list_deinit(&names->by);
}

static void read_list_file(
	struct config_reader *reader, const char *path, struct config_remembered *names)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct remembered_mistake mistake;
	int r;

	if (!read_file(reader, path, 0, &bytes, &tape))
		return;
	r = remembered_read_list(&tape, names, &mistake);
	if (r < 0)
		reader->error = r;
	if (r > 0)
		close_at(reader, path, &bytes, &tape, mistake.token, mistake.text);
}

/* Read the tokens of the file at @path. Whoever needs one cannot get in without it. */
static void read_tokens_file(struct config_reader *reader, const char *path)
{
	struct config_http *http = &reader->config->http;
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct http_tokens_mistake mistake;
	int r;

	if (!read_file(reader, path, REMEMBERED_TOKENS_FORBIDDEN, &bytes, &tape))
		return;
	http->needs_token = true;
	r = http_tokens_read(&tape, 0, true, &http->tokens, &mistake);
	if (r < 0)
		reader->error = r;
	if (r > 0)
		close_at(reader, path, &bytes, &tape, mistake.token, mistake.text);
}

/* ── profiles ────────────────────────────────────────────────────────────────────────────────── */

bool remembered_is_profile_name(const char *name, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_-";

	return size > 0 && strspn(name, letters) >= size;
}

/* Read the profile of @size bytes of @name from the file at @path. */
static void read_profile(
	struct config_reader *reader, const char *path, const char *name, size_t size)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct config_profile_mistake mistake;
	struct config_profile profile;
	int r;

	if (!read_file(reader, path, 0, &bytes, &tape))
		return;
	r = config_profile_read(&tape, 0, &profile, &mistake);
	if (r < 0)
		reader->error = r;
	if (r > 0)
		close_at(reader, path, &bytes, &tape, mistake.token, mistake.text);
	if (r != 0)
		return;
	profile.name = strndup(name, size);
	if (!profile.name)
		config_profile_deinit(&profile);
	if (!profile.name || config_profiles_put(reader->config, &profile) < 0)
		reader->error = -ENOMEM;
}

/* Read the file @entry of the folder @folder. Hidden files and those without the suffix are no profiles. */
static void read_profile_entry(struct config_reader *reader, const char *folder, const char *entry)
{
	cleanup_free char *path = join_path(folder, entry);
	size_t size = strlen(entry);
	size_t suffix = strlen(PROFILE_SUFFIX);

	if (*entry == '.' || size <= suffix || strcmp(entry + size - suffix, PROFILE_SUFFIX) != 0)
		return;
	if (!path)
		reader->error = -ENOMEM;
	else if (!remembered_is_profile_name(entry, size - suffix))
		diagnostic_report(&reader->closing.sink, DIAGNOSTIC_ERROR, path, 0, "",
			"the name of a profile has letters, digits, '_' and '-' only");
	else
		read_profile(reader, path, entry, size - suffix);
}

static void read_profiles(struct config_reader *reader, const char *path)
{
	cleanup_folder DIR *folder = opendir(path);
	const struct dirent *entry;

	if (!folder && (errno == ENOENT || errno == ENOTDIR))
		return;
	if (!folder && file_error_is_shortage(-errno))
		reader->error = -errno;
	else if (!folder)
		diagnostic_report(&reader->closing.sink, DIAGNOSTIC_ERROR, path, 0, "",
			"cannot be read: %s", strerror(errno));
	while (folder && (entry = readdir(folder)))
		read_profile_entry(reader, path, entry->d_name);
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static void read_folder(struct config_reader *reader, const char *folder)
{
	struct config *config = reader->config;
	cleanup_free char *allow = join_path(folder, REMEMBERED_ALLOW);
	cleanup_free char *disabled = join_path(folder, REMEMBERED_DISABLED);
	cleanup_free char *profiles = join_path(folder, REMEMBERED_PROFILES);
	cleanup_free char *tokens = join_path(folder, REMEMBERED_TOKENS);

	if (!allow || !disabled || !profiles || !tokens) {
		reader->error = -ENOMEM;
		return;
	}
	read_list_file(reader, allow, &config->allowed);
	read_list_file(reader, disabled, &config->disabled);
	read_profiles(reader, profiles);
	if (config->http.n_addresses > 0)
		read_tokens_file(reader, tokens);
}

void config_remembered_read(struct config_reader *reader)
{
	struct config *config = reader->config;
	int r = add_folders(reader);

	for (size_t i = 0; r == 0 && i < config->folders.n_items; i++)
		read_folder(reader, config->folders.items[i]);
	for (size_t i = 0; r == 0 && i < config->allowed.names.n_items; i++)
		r = text_list_add(&config->approval_allow, config->allowed.names.items[i]);
	if (r < 0)
		reader->error = r;
}
