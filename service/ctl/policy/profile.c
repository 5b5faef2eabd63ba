/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/profiles.h"
#include "config/remembered.h"
#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/response.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* toolboxctl profile: list, show, set and remove the profiles that are files
 * (config/remembered.h). */

#define SUFFIX ".json"

/* ── files ───────────────────────────────────────────────────────────────────────────────────── */

/* Read the profile at @path. Return 0, CONFIG_FILE_E_WRONG after a complaint, or a negative
 * errno. */
static int read_profile(const char *path, struct config_profile *ret_profile)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	struct config_mistake mistake = {.text = "it is not JSON"};
	int r = file_read(path, REMEMBERED_BYTES_MAX, &bytes);

	if (r < 0)
		return r;
	r = json_tape_read(&tape, buffer_text(&bytes), bytes.size, JSON_DEPTH_DEFAULT, NULL);
	r = r ? r : config_profile_read_file(&tape, ret_profile, &mistake);
	if (r > 0)
		terminal_complain("%s cannot be used: %s", path, mistake.text);
	return r > 0 ? CONFIG_FILE_E_WRONG : r;
}

static char *path_of(const char *folder, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/" REMEMBERED_PROFILES "/%s" SUFFIX, folder, name) >= 0 ? path
											  : NULL;
}

static int check_name(const char *name)
{
	if (remembered_is_profile_name(name, strlen(name)))
		return 0;
	terminal_complain("'%s' is no name of a profile: letters, digits, '_' and '-'", name);
	return CTL_USAGE;
}

/* ── list ────────────────────────────────────────────────────────────────────────────────────── */

/* Add the row of the file @entry of @folder, if it is a profile. */
static void add_row(struct table *table, const char *folder, const char *entry)
{
	cleanup(config_profile_deinit) struct config_profile profile = {0};
	size_t size = strlen(entry);
	cleanup_free char *name = size > strlen(SUFFIX) && *entry != '.'
					  ? strndup(entry, size - strlen(SUFFIX))
					  : NULL;
	cleanup_free char *path =
		name && strcmp(entry + strlen(name), SUFFIX) == 0 ? path_of(folder, name) : NULL;
	int r;

	if (!path)
		return;
	r = read_profile(path, &profile);
	if (r < 0)
		terminal_complain("%s cannot be read: %s", path, strerror(-r));
	if (r != 0)
		return;
	table_add(table, name);
	if (profile.has_all)
		buffer_append_string(table_cell(table), "all");
	else
		buffer_printf(table_cell(table), "%zu", profile.tool_names.n_items);
	table_next(table);
	table_add(table, path);
}

static int list_profiles(const struct text_list *folders)
{
	static const struct table_column columns[] = {
		{"PROFILE", false}, {"NAMES", true}, {"FILE", false}};
	cleanup(table_deinit) struct table table = TABLE(columns);

	for (size_t i = folders->n_items; i-- > 0;) {
		cleanup_free char *path = NULL;
		struct dirent **entries = NULL;
		int n_entries = asprintf(&path, "%s/" REMEMBERED_PROFILES, folders->items[i]) < 0
					? -1
					: scandir(path, &entries, NULL, alphasort);

		for (int j = 0; j < n_entries; j++) {
			add_row(&table, folders->items[i], entries[j]->d_name);
			free(entries[j]);
		}
		free(entries);
	}
	if (table_rows(&table) > 0)
		table_print(&table);
	else
		terminal_complain("no profile is in a file; those of mycroft.conf are not listed");
	return CTL_DONE;
}

/* ── show ────────────────────────────────────────────────────────────────────────────────────── */

/* Find the file of the profile @name that counts. Return 0 with @ret_path NULL when there is none,
 * or CTL_ERROR after a complaint. */
static int find_profile(const struct text_list *folders, const char *name, char **ret_path,
	struct config_profile *ret_profile)
{
	for (size_t i = folders->n_items; i-- > 0;) {
		cleanup_free char *path = path_of(folders->items[i], name);
		int r = path ? read_profile(path, ret_profile) : -ENOMEM;

		if (r == -ENOENT || r == -ENOTDIR)
			continue;
		if (r < 0)
			terminal_complain("%s cannot be read: %s", path, strerror(-r));
		if (r != 0)
			return CTL_ERROR;
		*ret_path = take_ptr(path);
		return 0;
	}
	return 0;
}

/* Append the tools of @response, a line each. */
static void append_tools(const struct ctl_response *response, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);

	if (tools == JSON_NONE)
		return;
	buffer_printf(out, "gives %u tool%s now\n", json_count(tape, tools),
		json_count(tape, tools) == 1 ? "" : "s");
	json_each(i, tape, tools) {
		buffer_append_string(out, "  ");
		terminal_append_tool(out, tape, i);
		buffer_append_char(out, '\n');
	}
}

static int show_profile(struct ctl_session *session, const struct ctl_options *options,
	const struct text_list *folders, const char *name)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(config_profile_deinit) struct config_profile profile = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *path = NULL;
	uint32_t tools;
	int r = find_profile(folders, name, &path, &profile);

	if (r == 0)
		r = tool_names_list(session, name, &response);
	if (r != 0)
		return r;
	if (options->json) {
		ctl_response_print(&response);
		return CTL_DONE;
	}
	tools = ctl_response_find(&response, 0, "tools", JSON_ARRAY);
	if (!path && (tools == JSON_NONE || json_count(&response.tape, tools) == 0)) {
		terminal_complain(
			"there is no profile '%s', or it has no tool that is offered; see "
			"toolboxctl profile list, and `profiles` in mycroft.conf",
			name);
		return CTL_ERROR;
	}
	buffer_append_string(&line, path ? path : "in no file; mycroft.conf has it");
	terminal_append_paragraph(&out, &line, 0, 2);
	buffer_reset(&line);
	if (profile.has_all)
		buffer_append_string(&out, "names all tools\n");
	for (size_t i = 0; i < profile.tool_names.n_items; i++)
		buffer_printf(&line, "%s %s", i > 0 ? "," : "names", profile.tool_names.items[i]);
	terminal_append_paragraph(&out, &line, 0, 2);
	append_tools(&response, &out);
	terminal_print(&out);
	return tool_names_complain(session, (const char *const *)profile.tool_names.items,
		profile.tool_names.n_items, false);
}

/* ── set and remove ──────────────────────────────────────────────────────────────────────────── */

/* Return whether the file @name of the profiles of @folder is @text (NULL: absent). */
static bool is_written(const char *folder, const char *name, const struct buffer *text)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = NULL;
	int r;

	if (asprintf(&path, "%s/" REMEMBERED_PROFILES "/%s", folder, name) < 0)
		return false;
	r = file_read(path, REMEMBERED_BYTES_MAX, &bytes);
	if (!text)
		return r == -ENOENT;
	return r == 0 && buffer_equals(&bytes, text);
}

/* Write @text as the file @name (NULL: remove the file), have the service read the file, and check
 * that no other program has changed the text since. Return an enum ctl_status. */
static int put_in_force(struct ctl_session *session, const struct ctl_options *options,
	const struct text_list *folders, const char *name, const struct buffer *text)
{
	cleanup_close int lock = -1;
	int r = own_files_lock(options, folders, REMEMBERED_PROFILES, &lock);

	if (r == 0)
		r = own_files_write(options, folders, REMEMBERED_PROFILES, name, text);
	if (lock >= 0)
		close(take_fd(lock));
	if (r == 0)
		r = own_files_reload(session, options);
	if (r == 0 && !is_written(folders->items[folders->n_items - 1], name, text))
		r = own_files_complain_lost(name);
	return r;
}

static int set_profile(struct ctl_session *session, const struct ctl_options *options,
	const struct text_list *folders, const char *file)
{
	const char *const *names = (const char *const *)options->positional + 3;
	size_t n_names = options->n_positional - 3;
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	buffer_append_string(&text, "{\n  \"tool_names\": [");
	for (size_t i = 0; i < n_names; i++) {
		buffer_append_string(&text, i > 0 ? ", " : "");
		json_write_text(&text, names[i]);
	}
	buffer_append_string(&text, "]\n}\n");
	if (buffer_status(&text) < 0)
		return CTL_ERROR;
	r = put_in_force(session, options, folders, file, &text);
	if (r != 0 || options->json)
		return r;
	if (n_names == 1 && strcmp(names[0], "all") == 0)
		return CTL_DONE;
	return tool_names_complain(session, names, n_names, false);
}

/* ── the command ─────────────────────────────────────────────────────────────────────────────── */

enum verb { VERB_LIST, VERB_SHOW, VERB_SET, VERB_REMOVE, N_VERBS };

static const struct {
	const char *name;
	size_t n_least; /* words of the command line */
	size_t n_most;
} verbs[N_VERBS] = {
	[VERB_LIST] = {"list", 2, 2},
	[VERB_SHOW] = {"show", 3, 3},
	[VERB_SET] = {"set", 4, CTL_MANY},
	[VERB_REMOVE] = {"remove", 3, 3},
};

/* Find what is to be done. Return 0 or CTL_USAGE after a complaint. */
static int find_verb(const struct ctl_options *options, enum verb *ret_verb)
{
	int verb = 0;
	int r = 0;

	while (verb < N_VERBS && strcmp(verbs[verb].name, options->positional[1]) != 0)
		verb++;
	if (verb == N_VERBS || options->n_positional < verbs[verb].n_least ||
		options->n_positional > verbs[verb].n_most) {
		terminal_complain("expected: profile list | show NAME | set NAME NAMES... | "
				  "remove NAME");
		return CTL_USAGE;
	}
	if (verb != VERB_LIST)
		r = check_name(options->positional[2]);
	for (size_t i = 3; r == 0 && i < options->n_positional; i++)
		r = tool_names_check(options->positional[i]);
	*ret_verb = (enum verb)verb;
	return r;
}

static int run_subcommand(struct ctl_session *session, const struct ctl_options *options,
	enum verb verb, const struct text_list *folders)
{
	cleanup_free char *file = NULL;

	if (verb != VERB_LIST && asprintf(&file, "%s" SUFFIX, options->positional[2]) < 0)
		return CTL_ERROR;
	switch (verb) {
	case VERB_LIST:
		return list_profiles(folders);
	case VERB_SHOW:
		return show_profile(session, options, folders, options->positional[2]);
	case VERB_SET:
		return set_profile(session, options, folders, file);
	case VERB_REMOVE:
		return put_in_force(session, options, folders, file, NULL);
	case N_VERBS:
		break;
	}
	return CTL_USAGE;
}

int ctl_profile(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(text_list_deinit) struct text_list folders = {0};
	enum verb verb;
	int r = find_verb(options, &verb);

	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = own_files_ask(session, &folders);
	return r == 0 ? run_subcommand(session, options, verb, &folders) : r;
}
