/* SPDX-License-Identifier: Apache-2.0 */
#include "config/remembered.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/secret_line.h"
#include "json/pointer.h"
#include "util/array.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/file/file.h"
#include "util/file/paths.h"
#include "util/file/stamp.h"
#include "util/text/text.h"

#define SYSTEM_FOLDER  "/etc/toolboxd"
#define USER_FOLDER    "toolboxd"
#define PROFILE_SUFFIX ".json"

/* ── folders ─────────────────────────────────────────────────────────────────────────────────── */

/* Set *@ret to $XDG_CONFIG_HOME/toolboxd, which the caller frees; NULL: there is none. */
static int find_user_folder(char **ret)
{
	cleanup_free char *home = NULL;
	char *folder = NULL;
	int r = paths_xdg_home("XDG_CONFIG_HOME", ".config", &home);

	if (r == 0 && home && asprintf(&folder, "%s/" USER_FOLDER, home) < 0)
		return -ENOMEM;
	*ret = folder;
	return r;
}

static int add_folders(const struct config_reader *reader, struct text_list *folders)
{
	int r = text_list_add(folders, SYSTEM_FOLDER);
	char *user = NULL;

	if (r < 0 || reader->stack.drops_user)
		return r;
	r = find_user_folder(&user);
	return user ? text_list_take(folders, user) : r;
}

int config_remembered_each_path(void (*visit)(void *data, const char *path),
	void (*visit_folder)(void *data, const char *path), void *data)
{
	static const char *const names[] = {REMEMBERED_PROFILES, REMEMBERED_TOKENS,
		REMEMBERED_ALLOW, REMEMBERED_ENABLED, REMEMBERED_DISABLED};
	cleanup_free char *user = NULL;
	int r = find_user_folder(&user);
	const char *const folders[] = {SYSTEM_FOLDER, user};

	for (size_t i = 0; r == 0 && i < 2 && folders[i]; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			cleanup_free char *path = file_path(folders[i], names[k]);
			void (*function)(void *, const char *) = k == 0 ? visit_folder : visit;

			if (!path)
				return -ENOMEM;
			if (function)
				function(data, path);
		}
	return r;
}

/* ── one file ────────────────────────────────────────────────────────────────────────────────── */

/* Report the failure @r, which is not 0, of reading the file at @path: @mistake, or an errno. */
static void close_at(struct config_reader *reader, const char *path, const struct json_tape *tape,
	const struct config_mistake *mistake, int r)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};
	unsigned int line;
	unsigned int column;

	if (r > 0) {
		json_pointer_write(tape, mistake->token, &pointer);
		json_locate(tape->text, json_at(tape, mistake->token)->offset, &line, &column);
	}
	if (r > 0 && buffer_terminate(&pointer))
		diagnostic_report(&reader->closing.sink, DIAGNOSTIC_ERROR, path, line, pointer.data,
			"%s", mistake->text);
	else
		reader->error = r < 0 ? r : -ENOMEM;
}

/* Read and parse the file at @path, on which other users must not have the rights @forbidden.
 * Return whether it is there and is JSON; anything but an absent file is reported. */
static bool read_file(struct config_reader *reader, const char *path, mode_t forbidden,
	struct buffer *bytes, struct json_tape *tape)
{
	struct json_error error;
	int r = forbidden ? secret_line_read(path, forbidden, REMEMBERED_BYTES_MAX, bytes)
			  : file_read(path, REMEMBERED_BYTES_MAX, bytes);

	if (r == -ENOENT || r == -ENOTDIR)
		return false;
	if (r < 0 && file_error_is_shortage(r))
		reader->error = r;
	else if (forbidden && r == -EPERM)
		config_closing_report(&reader->closing, path, 0,
			"may be read and written only by its owner (mode 0600)");
	else if (r < 0)
		config_closing_report_unreadable(&reader->closing, path, REMEMBERED_BYTES_MAX, r);
	if (r < 0)
		return false;
	r = json_tape_read(tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		reader->error = r;
	if (r > 0)
		config_closing_report_text(&reader->closing, path, bytes->data, &error);
	return r == 0;
}

/* ── lists of names ──────────────────────────────────────────────────────────────────────────── */

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"

/* The members of an entry; only one of disabled.json has the last. */
static const char *const keys[] = {"name", "since", "by", "until"};
#define N_KEYS ARRAY_SIZE(keys)

static struct text_list *list_of(struct config_remembered *names, size_t key)
{
	struct text_list *const lists[N_KEYS] = {
		&names->names, &names->since, &names->by, &names->until};

	return lists[key];
}

void remembered_write_time(time_t time, char text[REMEMBERED_TIME_BYTES])
{
	struct tm utc;

	check(strftime(text, REMEMBERED_TIME_BYTES, TIME_FORMAT, gmtime_r(&time, &utc)) > 0);
}

/* Return whether @text is a time as remembered_write_time() writes it. */
static bool read_time(const char *text, time_t *ret_time)
{
	char written[REMEMBERED_TIME_BYTES];
	struct tm parts = {0};

	if (strlen(text) + 1 != sizeof(written) || !strptime(text, TIME_FORMAT, &parts))
		return false;
	*ret_time = timegm(&parts);
	remembered_write_time(*ret_time, written);
	return strcmp(written, text) == 0;
}

time_t remembered_next_end(const struct config_remembered *names)
{
	time_t next = 0;
	time_t end;

	for (size_t i = 0; i < names->until.n_items; i++)
		if (read_time(names->until.items[i], &end) && (next == 0 || end < next))
			next = end;
	return next;
}

/* Add the member @key of the entry at @entry, a string or "", to its list. */
static int add_entry_member(
	const struct json_tape *tape, uint32_t entry, size_t key, struct config_remembered *names)
{
	uint32_t token = json_find(tape, entry, keys[key]);

	return token == JSON_NONE
		       ? text_list_add(list_of(names, key), "")
		       : text_list_take(list_of(names, key), json_string_dup(tape, token, NULL));
}

/* Remove the last entry of @names, the one at @entry, if it has ended. */
static int drop_ended(const struct json_tape *tape, uint32_t entry, struct config_remembered *names,
	struct config_mistake *mistake)
{
	size_t last = names->names.n_items - 1;
	uint32_t token = json_find(tape, entry, "until");
	time_t end;

	if (token == JSON_NONE)
		return 0;
	if (!read_time(names->until.items[last], &end))
		return config_mistake_set(
			mistake, token, "must be a time in UTC, like \"2026-11-24T10:12:00Z\"");
	/* A timer fires at the end, when time() may be a tick before it. */
	if (stamp_now_ns() / NS_PER_S >= end)
		remembered_remove(names, last);
	return 0;
}

int remembered_read_list(const struct json_tape *tape, const char *file,
	struct config_remembered *names, struct config_mistake *ret_mistake)
{
	int r = config_file_check(tape, file, ret_mistake);

	json_each_while(r == 0, entry, tape, 0) {
		for (size_t i = 0; r == 0 && i < N_KEYS; i++)
			r = add_entry_member(tape, entry, i, names);
		if (r == 0)
			r = drop_ended(tape, entry, names, ret_mistake);
	}
	/* The lists stay equally long. */
	for (size_t i = 0; r != 0 && i < N_KEYS - 1; i++)
		while (list_of(names, i)->n_items > names->until.n_items)
			text_list_remove(list_of(names, i), names->until.n_items);
	return r;
}

void remembered_remove(struct config_remembered *names, size_t index)
{
	for (size_t i = 0; i < N_KEYS; i++)
		text_list_remove(list_of(names, i), index);
}

void remembered_deinit(struct config_remembered *names)
{
	for (size_t i = 0; i < N_KEYS; i++)
		text_list_deinit(list_of(names, i));
}

/* Read FOLDER/FILE: the file of a list into @names, or the tokens into @http. Whoever needs a token
 * cannot get in without it. */
static void read_kept_file(struct config_reader *reader, const char *folder, const char *file,
	struct config_remembered *names, struct config_http *http)
{
	cleanup_free char *path = file_path(folder, file);
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct config_mistake mistake;
	int r;

	if (!path)
		reader->error = -ENOMEM;
	if (!path ||
		!read_file(reader, path, http ? REMEMBERED_TOKENS_FORBIDDEN : 0, &bytes, &tape))
		return;
	if (http)
		http->needs_token = true;
	r = http ? http_tokens_read_file(&tape, &http->tokens, &mistake)
		 : remembered_read_list(&tape, file, names, &mistake);
	if (r != 0)
		close_at(reader, path, &tape, &mistake, r);
}

/* ── profiles ────────────────────────────────────────────────────────────────────────────────── */

bool remembered_is_profile_name(const char *name, size_t size)
{
	return size > 0 && text_span_name(name) >= size;
}

/* Read the profile of @size bytes of @name from the file at @path. */
static void read_kept_profile(struct config_reader *reader, const char *path, const char *name,
	size_t size, struct config_profiles *profiles)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct config_mistake mistake;
	struct config_profile profile;
	int r;

	if (!read_file(reader, path, 0, &bytes, &tape))
		return;
	r = config_profile_read_file(&tape, &profile, &mistake);
	if (r != 0) {
		close_at(reader, path, &tape, &mistake, r);
		return;
	}
	profile.name = strndup(name, size);
	if (!profile.name)
		config_profile_deinit(&profile);
	if (!profile.name || config_profiles_put(profiles, &profile) < 0)
		reader->error = -ENOMEM;
}

/* Read the file @entry of the folder @folder. Hidden files and those without the suffix are no
 * profiles. */
static void read_profile_entry(struct config_reader *reader, const char *folder, const char *entry,
	struct config_profiles *profiles)
{
	cleanup_free char *path = file_path(folder, entry);
	size_t size = strlen(entry);
	size_t suffix = strlen(PROFILE_SUFFIX);

	if (*entry == '.' || size <= suffix || strcmp(entry + size - suffix, PROFILE_SUFFIX) != 0)
		return;
	if (!path)
		reader->error = -ENOMEM;
	else if (!remembered_is_profile_name(entry, size - suffix))
		config_closing_report(&reader->closing, path, 0,
			"the name of a profile has letters, digits, '_' and '-' only");
	else
		read_kept_profile(reader, path, entry, size - suffix, profiles);
}

static void read_profiles(
	struct config_reader *reader, const char *path, struct config_profiles *profiles)
{
	cleanup_folder DIR *folder = opendir(path);
	const struct dirent *entry;

	if (!folder && (errno == ENOENT || errno == ENOTDIR))
		return;
	if (!folder && file_error_is_shortage(-errno))
		reader->error = -errno;
	else if (!folder)
		config_closing_report_unreadable(
			&reader->closing, path, REMEMBERED_BYTES_MAX, -errno);
	while (folder && (entry = readdir(folder)))
		read_profile_entry(reader, path, entry->d_name, profiles);
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static void read_folder(
	struct config_reader *reader, const char *folder, const struct config_kept *kept)
{
	cleanup_free char *profiles = file_path(folder, REMEMBERED_PROFILES);

	read_kept_file(reader, folder, REMEMBERED_ALLOW, kept->allowed, NULL);
	read_kept_file(reader, folder, REMEMBERED_ENABLED, kept->enabled, NULL);
	read_kept_file(reader, folder, REMEMBERED_DISABLED, kept->disabled, NULL);
	if (!profiles)
		reader->error = -ENOMEM;
	else
		read_profiles(reader, profiles, kept->profiles);
	if (kept->http->n_addresses > 0)
		read_kept_file(reader, folder, REMEMBERED_TOKENS, NULL, kept->http);
}

void config_remembered_read(struct config_reader *reader, const struct config_kept *kept)
{
	int r = add_folders(reader, kept->folders);

	for (size_t i = 0; r == 0 && i < kept->folders->n_items; i++)
		read_folder(reader, kept->folders->items[i], kept);
	if (r < 0)
		reader->error = r;
}

int remembered_add_allowed(const struct config_remembered *allowed, struct text_list *names)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < allowed->names.n_items; i++)
		r = text_list_add(names, allowed->names.items[i]);
	return r;
}

/* Append the reason of a tool that the entry @index means, with its end in local time. */
static int add_reason(
	const struct config_remembered *disabled, size_t index, struct text_list *reasons)
{
	const char *name = disabled->names.items[index];
	char until[64] = "";
	struct tm local;
	time_t end;
	char *why = NULL;

	if (read_time(disabled->until.items[index], &end))
		strftime(until, sizeof(until), " until %Y-%m-%d %H:%M:%S %z",
			localtime_r(&end, &local));
	if (asprintf(&why, "disabled in disabled.json%s (`toolboxctl enable '%s'` enables it)",
		    until, name) < 0)
		return -ENOMEM;
	return text_list_take(reasons, why);
}

int remembered_add_reasons(const struct config_remembered *disabled, struct text_list *reasons)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < disabled->names.n_items; i++)
		r = add_reason(disabled, i, reasons);
	return r;
}
