/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "config/remembered.h"
#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/request.h"
#include "ctl/response.h"
#include "ctl/since.h"
#include "ctl/terminal.h"
#include "ctl/tool_names.h"
#include "json/writer.h"
#include "policy/names.h"
#include "util/cleanup.h"

/* toolboxctl allow, disallow, disable, enable: remember a word on tools, for good or until a
 * time. */

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
};

static const struct act *find_act(const char *command)
{
	size_t i = 0;

	while (strcmp(acts[i].command, command) != 0)
		i++;
	return &acts[i];
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

/* Print what has changed, and why that may not be all. */
static int report_end(struct ctl_session *session, const struct ctl_options *options,
	const struct act *act, const struct end *end, const char *folder)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	for (size_t i = 1; i < options->n_positional; i++) {
		cleanup(buffer_deinit) struct buffer line = {0};

		buffer_printf(&line, "%s is %s", options->positional[i],
			act->adds ? act->has : act->lacks);
		buffer_append_string(&line, end->time ? " until " : "");
		if (end->time)
			terminal_append_time(&line, end->time);
		buffer_printf(&line, " (%s/%s)", folder, act->file);
		terminal_append_paragraph(&out, &line, 0, 2);
	}
	if (!options->json)
		terminal_print(&out);
	return tool_names_complain(session, options->positional + 1, options->n_positional - 1,
		strcmp(act->command, "enable") == 0);
}

/* Change the entries of all names in the file, with the lock held. Return 0, or CTL_ERROR after a
 * complaint. */
static int change_file(const struct ctl_options *options, const struct act *act,
	const struct end *end, const struct text_list *folders)
{
	cleanup(remembered_deinit) struct config_remembered entries = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_close int lock = -1;
	bool has_changed = false;
	bool is_good = true;
	int r = own_files_lock(options, folders, act->file, &lock);

	if (r == 0)
		r = own_files_read(folders->items[folders->n_items - 1], act->file, &entries);
	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		is_good &= change_entry(
			act, end, folders, &entries, options->positional[i], &has_changed);
	if (r != 0 || !is_good)
		return CTL_ERROR;
	write_entries(&entries, &text);
	if (buffer_status(&text) < 0)
		return CTL_ERROR;
	return has_changed ? own_files_write(options, folders, "", act->file, &text) : 0;
}

/* Hold the file, which the service has read, against what was wanted. Return 0, or CTL_ERROR after
 * a complaint. */
static int check_file(const struct ctl_options *options, const struct act *act, const char *folder)
{
	cleanup(remembered_deinit) struct config_remembered entries = {0};
	int r = own_files_read(folder, act->file, &entries);

	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		if ((find_entry(&entries, options->positional[i]) >= 0) != act->adds)
			r = own_files_complain_lost(options->positional[i]);
	return r;
}

static int change(struct ctl_session *session, const struct ctl_options *options,
	const struct act *act, const struct end *end, const struct text_list *folders)
{
	const char *folder = folders->items[folders->n_items - 1];
	int r = change_file(options, act, end, folders);

	if (r == 0)
		r = own_files_reload(session, options);
	if (r == 0)
		r = check_file(options, act, folder);
	return r == 0 ? report_end(session, options, act, end, folder) : r;
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
	const struct act *act = find_act(options->positional[0]);
	struct end end;
	int r = read_end(options->span, &end);

	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		r = tool_names_check(options->positional[i]);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = own_files_ask(session, &folders);
	return r == 0 ? change(session, options, act, &end, &folders) : r;
}
