/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/remembered.h"
#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/since.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/member.h"
#include "json/writer.h"
#include "policy/names.h"
#include "util/array.h"
#include "util/cleanup.h"

/*
 * toolboxctl allow, disallow, disable, enable: remember a word on tools, for good or until a time.
 *
 *   allow, disallow   an entry of allow.json is added or removed
 *   disable           the entry of enabled.json is removed; without an entry, and with --for, one
 * is
 *                     added to disabled.json
 *   enable            the entry of disabled.json is removed; without an entry, one is added to
 *                     enabled.json for tools that their manifest disables
 */

struct act {
	const char *command;
	const char *file;
	bool adds;
	const char *has;   /* the state of a name with an entry: "NAME is …" */
	const char *lacks; /* the same for a name without an entry */
};

/* The end that --for gives to entries. */
struct end {
	time_t time;                      /* 0: they have none */
	char text[REMEMBERED_TIME_BYTES]; /* as an entry has it; "": none */
};

static const struct act acts[] = {
	{"allow", REMEMBERED_ALLOW, true, "allowed", "not allowed"},
	{"disallow", REMEMBERED_ALLOW, false, "allowed", "not allowed"},
	{"disable", REMEMBERED_DISABLED, true, "disabled", "not disabled"},
	{"enable", REMEMBERED_DISABLED, false, "disabled", "not disabled"},
	{"disable", REMEMBERED_ENABLED, false, "enabled", "not enabled"},
	{"enable", REMEMBERED_ENABLED, true, "enabled", "not enabled"},
};

/* Return the act of @command on @file (NULL: the usual file), or NULL. */
static const struct act *find_act(const char *command, const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		if (strcmp(acts[i].command, command) == 0 &&
			(!file || strcmp(acts[i].file, file) == 0))
			return &acts[i];
	return NULL;
}

/* ── entries ─────────────────────────────────────────────────────────────────────────────────── */

/* Return the index of @name among @entries, or -1. */
static long find_entry(const struct config_remembered *entries, const char *name)
{
	for (size_t i = 0; i < entries->names.n_items; i++)
		if (strcmp(entries->names.items[i], name) == 0)
			return (long)i;
	return -1;
}

/* Return the name of the user who types the command. For root that may be the user who typed
 * sudo. */
static const char *user_name(void)
{
	const char *sudo = geteuid() == 0 ? getenv("SUDO_USER") : NULL;
	const struct passwd *user = sudo && *sudo ? NULL : getpwuid(getuid());

	if (sudo && *sudo)
		return sudo;
	return user ? user->pw_name : "";
}

static int add_entry(struct config_remembered *entries, const char *name, const char *until)
{
	char since[REMEMBERED_TIME_BYTES];

	remembered_write_time(time(NULL), since);
	if (text_list_add(&entries->names, name) < 0 || text_list_add(&entries->since, since) < 0 ||
		text_list_add(&entries->by, user_name()) < 0 ||
		text_list_add(&entries->until, until) < 0)
		return -ENOMEM;
	return 0;
}

static void write_entries(const struct config_remembered *entries, struct buffer *out)
{
	buffer_append_string(out, "[");
	for (size_t i = 0; i < entries->names.n_items; i++) {
		buffer_append_string(out, i > 0 ? ",\n  {" : "\n  {");
		json_write_member_text(out, "name", entries->names.items[i]);
		json_write_member_text(out, "since", entries->since.items[i]);
		json_write_member_text(out, "by", entries->by.items[i]);
		if (*entries->until.items[i])
			json_write_member_text(out, "until", entries->until.items[i]);
		buffer_append_char(out, '}');
	}
	buffer_append_string(out, entries->names.n_items > 0 ? "\n]\n" : "]\n");
}

/* ── one name ────────────────────────────────────────────────────────────────────────────────── */

/* Complain that @name has no entry in the written file, with the entry that means it. */
static void complain_absent(const struct act *act, const struct text_list *folders,
	const struct config_remembered *entries, const char *name)
{
	for (size_t i = 0; i + 1 < folders->n_items; i++) {
		cleanup(remembered_deinit) struct config_remembered lower = {0};

		if (own_files_read(folders->items[i], act->file, &lower) == 0 &&
			find_entry(&lower, name) >= 0) {
			terminal_complain("%s is %s by %s/%s, which only an editor changes", name,
				act->has, folders->items[i], act->file);
			return;
		}
	}
	for (size_t i = 0; i < entries->names.n_items; i++) {
		const char *slash = strchr(name, '/');
		cleanup_free char *id = slash ? strndup(name, (size_t)(slash - name)) : NULL;

		if (id && name_means(entries->names.items[i], id, slash + 1)) {
			terminal_complain("%s is %s by '%s'; name that", name, act->has,
				entries->names.items[i]);
			return;
		}
	}
	terminal_complain("%s is %s here", name, act->lacks);
}

/* Change the entry of @name. Return whether it is as wanted now; *ret_changed is set when it was
 * not. */
static bool change_entry(const struct act *act, const struct end *end,
	const struct text_list *folders, struct config_remembered *entries, const char *name,
	bool *ret_changed)
{
	long index = find_entry(entries, name);

	if (act->adds && index >= 0 && strcmp(entries->until.items[index], end->text) == 0)
		return true;
	if (!act->adds && index < 0) {
		complain_absent(act, folders, entries, name);
		return false;
	}
	*ret_changed = true;
	if (index >= 0)
		remembered_remove(entries, (size_t)index);
	return !act->adds || add_entry(entries, name, end->text) == 0;
}

/* Complain about the @names that mean no tool, or a tool that is still not offered. */
static int complain_names(
	struct ctl_session *session, const struct act *act, const struct text_list *names)
{
	cleanup(text_list_deinit) struct text_list meant = {0};
	bool is_enable = strcmp(act->command, "enable") == 0;

	if (strcmp(act->file, REMEMBERED_ENABLED) != 0)
		return tool_names_complain(
			session, (const char *const *)names->items, names->n_items, is_enable);
	for (size_t i = 0; i < names->n_items; i++) {
		char *name = NULL;

		if (asprintf(&name, "%s%s", names->items[i],
			    strchr(names->items[i], '/') ? "" : "/*") < 0 ||
			text_list_take(&meant, name) < 0)
			return CTL_ERROR;
	}
	return tool_names_complain(
		session, (const char *const *)meant.items, meant.n_items, is_enable);
}

/* Print what has changed, and why that may not be all. */
static int report_end(struct ctl_session *session, const struct ctl_options *options,
	const struct act *act, const struct end *end, const char *folder,
	const struct text_list *names)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	for (size_t i = 0; i < names->n_items; i++) {
		cleanup(buffer_deinit) struct buffer line = {0};

		buffer_printf(
			&line, "%s is %s", names->items[i], act->adds ? act->has : act->lacks);
		buffer_append_string(&line, end->time ? " until " : "");
		if (end->time)
			terminal_append_time(&line, end->time);
		buffer_printf(&line, " (%s/%s)", folder, act->file);
		terminal_append_paragraph(&out, &line, 0, 2);
	}
	if (!options->json)
		terminal_print(&out);
	return complain_names(session, act, names);
}

/* Change the entries of @names in the file, with the lock held. Return 0, or CTL_ERROR after a
 * complaint. */
static int change_file(const struct ctl_options *options, const struct act *act,
	const struct end *end, const struct text_list *folders, const struct text_list *names)
{
	cleanup(remembered_deinit) struct config_remembered entries = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_close int lock = -1;
	bool has_changed = false;
	bool is_good = true;
	int r = own_files_lock(options, folders, act->file, &lock);

	if (r == 0)
		r = own_files_read(folders->items[folders->n_items - 1], act->file, &entries);
	for (size_t i = 0; r == 0 && i < names->n_items; i++)
		is_good &= change_entry(act, end, folders, &entries, names->items[i], &has_changed);
	if (r != 0 || !is_good)
		return CTL_ERROR;
	write_entries(&entries, &text);
	if (buffer_status(&text) < 0)
		return CTL_ERROR;
	return has_changed ? own_files_write(options, folders, "", act->file, &text) : 0;
}

/* Hold the file, which the service has read, against what was wanted. Return 0, or CTL_ERROR after
 * a complaint. */
static int check_file(const struct act *act, const char *folder, const struct text_list *names)
{
	cleanup(remembered_deinit) struct config_remembered entries = {0};
	int r = own_files_read(folder, act->file, &entries);

	for (size_t i = 0; r == 0 && i < names->n_items; i++)
		if ((find_entry(&entries, names->items[i]) >= 0) != act->adds)
			r = own_files_complain_lost(names->items[i]);
	return r;
}

/* Do @act for @names, if there are any. */
static int change(struct ctl_session *session, const struct ctl_options *options,
	const struct act *act, const struct end *end, const struct text_list *folders,
	const struct text_list *names)
{
	const char *folder = folders->items[folders->n_items - 1];
	int r = names->n_items > 0 ? change_file(options, act, end, folders, names) : 0;

	if (names->n_items == 0)
		return 0;
	if (r == 0)
		r = own_files_reload(session, options);
	if (r == 0)
		r = check_file(act, folder, names);
	return r == 0 ? report_end(session, options, act, end, folder, names) : r;
}

/* ── which file ──────────────────────────────────────────────────────────────────────────────── */

/* Return whether @name, TOOLBOX or TOOLBOX/TOOL, means the entry of @status at @entry, and the
 * manifest is the reason of the entry. */
static bool is_off(const struct ctl_response *status, uint32_t entry, const char *name)
{
	cleanup_free char *reason = json_find_dup(&status->tape, entry, "why");
	cleanup_free char *id = json_find_dup(&status->tape, entry, "toolbox_id");

	if (!reason || !id || strncmp(reason, OFF_BY_MANIFEST, strlen(OFF_BY_MANIFEST)) != 0)
		return false;
	if (!strchr(name, '/'))
		return strcmp(id, name) == 0;
	return tool_names_mean(status, entry, name);
}

static bool is_off_anywhere(const struct ctl_response *status, const char *name)
{
	uint32_t entries = ctl_response_find(status, 0, "not_offered", JSON_ARRAY);

	json_each_found(i, &status->tape, entries)
		if (is_off(status, i, name))
			return true;
	return false;
}

/* The names for the usual file of a command, and those for enabled.json. */
struct sorted {
	struct text_list usual;
	struct text_list enabled;
};

static void sorted_deinit(struct sorted *sorted)
{
	text_list_deinit(&sorted->usual);
	text_list_deinit(&sorted->enabled);
}

/* Sort the names of `enable` or `disable` by the file that has to change. Return 0, or an enum
 * ctl_status after a complaint. */
static int sort_names(struct ctl_session *session, const struct ctl_options *options,
	const struct end *end, const struct text_list *folders, struct sorted *sorted)
{
	cleanup(remembered_deinit) struct config_remembered disabled = {0};
	cleanup(remembered_deinit) struct config_remembered enabled = {0};
	cleanup(ctl_response_deinit) struct ctl_response status = {0};
	const char *folder = folders->items[folders->n_items - 1];
	bool enables = strcmp(options->positional[0], "enable") == 0;
	bool has_choice = enables || strcmp(options->positional[0], "disable") == 0;
	int r = has_choice ? own_files_read(folder, REMEMBERED_DISABLED, &disabled) : 0;

	if (r == 0 && has_choice)
		r = own_files_read(folder, REMEMBERED_ENABLED, &enabled);
	if (r == 0 && enables)
		r = tool_names_ask_status(session, &status);
	for (size_t i = 1; r == 0 && i < options->n_positional; i++) {
		const char *name = options->positional[i];
		bool is_enabled = has_choice && find_entry(&enabled, name) >= 0;
		bool is_for_enabled =
			enables ? find_entry(&disabled, name) < 0 &&
					  (is_enabled || is_off_anywhere(&status, name))
				: is_enabled && end->time == 0;

		if (text_list_add(is_for_enabled ? &sorted->enabled : &sorted->usual, name) < 0)
			r = CTL_ERROR;
	}
	return r;
}

/* Read the value of --for (NULL: not given). Return 0, or CTL_USAGE after a complaint. */
static int read_end(const char *span, struct end *ret_end)
{
	time_t seconds;
	int r = span ? span_read(span, &seconds) : 0;

	*ret_end = (struct end){0};
	if (!span || r != 0)
		return r;
	ret_end->time = time(NULL) + seconds;
	remembered_write_time(ret_end->time, ret_end->text);
	return 0;
}

int ctl_remember(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(text_list_deinit) struct text_list folders = {0};
	cleanup(sorted_deinit) struct sorted names = {0};
	const char *command = options->positional[0];
	struct end end;
	int r = read_end(options->span, &end);

	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		r = tool_names_check(options->positional[i]);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = own_files_ask(session, &folders);
	if (r == 0)
		r = sort_names(session, options, &end, &folders, &names);
	if (r == 0)
		r = change(session, options, find_act(command, NULL), &end, &folders, &names.usual);
	return r == 0 ? change(session, options, find_act(command, REMEMBERED_ENABLED), &end,
				&folders, &names.enabled)
		      : r;
}
