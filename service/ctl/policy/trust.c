/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "loader/pins.h"
#include "manifest/manifest.h"
#include "mcp/client/tools/pins.h"
#include "json/member.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/paths.h"

/*
 * toolboxctl trust: what a server has changed since its tools were seen first (loader/pins.h).
 *
 *   STATE/.pins/ID.*.json ─▶ its changed tools ─▶ --show: the members that differ, before and after
 *                                              ─▶ else:   they are pinned as they are now; reload
 */

/* A longer text of one member is cut. */
#define SHOWN_BYTES 4000

/* ── showing ─────────────────────────────────────────────────────────────────────────────────── */

/* Read the definition in the pin at @object. Return false when there is none. */
static bool read_definition(
	const struct json_tape *tape, uint32_t object, char **ret_text, struct json_tape *ret_tape)
{
	uint32_t token = json_find_typed(tape, object, "definition", JSON_STRING);
	size_t size;

	*ret_text = token == JSON_NONE ? NULL : json_string_dup(tape, token, &size);
	return *ret_text &&
	       json_tape_read(ret_tape, *ret_text, size, JSON_DEPTH_DEFAULT, NULL) == 0 &&
	       json_type_at(ret_tape, 0) == JSON_ARRAY;
}

/* Print one side of a change. */
static void print_side(char mark, const char *member, const struct json_tape *tape, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer line = {0};

	if (value == JSON_NONE)
		buffer_append_string(&text, "null");
	else
		terminal_append_value(&text, tape, value);
	buffer_printf(&line, "  %c %s: %.*s%s\n", mark, member,
		text.size < SHOWN_BYTES ? (int)text.size : SHOWN_BYTES, buffer_text(&text),
		text.size < SHOWN_BYTES ? "" : "…");
	terminal_print(&line);
}

/* Print the two values of @member, each of which may be JSON_NONE, if they are written
 * differently. */
static void show_member(const char *member, const struct json_tape *before, uint32_t old,
	const struct json_tape *after, uint32_t new)
{
	struct text_view left = old == JSON_NONE ? TEXT_VIEW("") : json_value_view(before, old);
	struct text_view right = new == JSON_NONE ? TEXT_VIEW("") : json_value_view(after, new);

	if (left.size == right.size && memcmp(left.text, right.text, left.size) == 0)
		return;
	print_side('-', member, before, old);
	print_side('+', member, after, new);
}

/* Return the element @n of the array at the root, or JSON_NONE when it is null, or when the array
 * is shorter. */
static uint32_t find_nth(const struct json_tape *tape, size_t n)
{
	uint32_t at = json_first(tape, 0);

	while (n-- > 0 && at < json_end(tape, 0))
		at = json_next(tape, at);
	return at < json_end(tape, 0) && json_type_at(tape, at) != JSON_NULL ? at : JSON_NONE;
}

/* Print the members of the tool @pinned that differ. */
static void show_tool(
	const struct mcp_pins *pins, const struct mcp_pinned *pinned, uint32_t changed)
{
	cleanup(json_tape_cleanup) struct json_tape before = {0};
	cleanup(json_tape_cleanup) struct json_tape after = {0};
	cleanup_free char *before_text = NULL;
	cleanup_free char *after_text = NULL;
	cleanup(buffer_deinit) struct buffer line = {0};
	bool is_known;

	terminal_append_value(&line, &pins->tape, pinned->entry - 1);
	terminal_print_line(&line);
	show_member("risk", &pins->tape, json_find(&pins->tape, pinned->entry, "risk"), &pins->tape,
		json_find(&pins->tape, changed, "risk"));
	is_known = read_definition(&pins->tape, pinned->entry, &before_text, &before);
	is_known = read_definition(&pins->tape, changed, &after_text, &after) && is_known;
	if (!is_known) {
		puts("  only its pin was kept, since the texts of all tools are too long");
		return;
	}
	for (size_t i = 0; i < MCP_PIN_MEMBERS; i++)
		show_member(mcp_pin_members[i], &before, find_nth(&before, i), &after,
			find_nth(&after, i));
}

/* Show the changes, and return how many there are. */
static size_t show(const struct mcp_pins *pins)
{
	size_t n_changed = 0;

	for (size_t i = 0; i < pins->n_items; i++) {
		uint32_t changed = json_find(&pins->tape, pins->items[i].entry, "changed");

		if (changed == JSON_NONE)
			continue;
		n_changed++;
		show_tool(pins, &pins->items[i], changed);
	}
	return n_changed;
}

/* ── files ───────────────────────────────────────────────────────────────────────────────────── */

struct trusting {
	const struct ctl_options *options;
	struct text_list state; /* the state folder, as own_files_write() takes it */
	size_t n_files;
	size_t n_changed;
};

/* Show or accept the changes in the file @name of @folder. Return an enum ctl_status. */
static int look_at_file(struct trusting *trusting, const char *folder, const char *name)
{
	cleanup(mcp_pins_deinit) struct mcp_pins pins = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *path = NULL;
	int r = asprintf(&path, "%s/%s", folder, name) < 0 ? -ENOMEM : 0;

	r = r ? r : file_read(path, MCP_PINS_FILE_BYTES, &text);
	r = r ? r : mcp_pins_read(&pins, text.data, text.size, NULL);
	if (r) {
		terminal_complain("%s cannot be used: %s", path,
			r < 0 ? strerror(-r)
			      : "it is no file of pins; remove it to have all tools pinned anew");
		return CTL_ERROR;
	}
	trusting->n_files++;
	if (trusting->options->show) {
		trusting->n_changed += show(&pins);
		return CTL_DONE;
	}
	r = mcp_pins_trust(&pins, &out);
	if (r <= 0)
		return r < 0 ? CTL_ERROR : CTL_DONE;
	trusting->n_changed += (size_t)r;
	return own_files_write(trusting->options, &trusting->state, PINS_FOLDER, name, &out);
}

/* Whether @name is of a file of the toolbox @id: ID.DIGEST.json. */
static bool is_pin_of(const char *name, const char *id)
{
	size_t size = strlen(id);

	return strncmp(name, id, size) == 0 && name[size] == '.' &&
	       strspn(name + size + 1, "0123456789abcdef") == PINS_DIGITS &&
	       strcmp(name + size + 1 + PINS_DIGITS, ".json") == 0;
}

static int look_at_files(struct trusting *trusting, const char *id)
{
	cleanup_free char *folder = NULL;
	cleanup_close int lock = -1;
	struct dirent *entry;
	DIR *files;
	int r = CTL_DONE;

	if (asprintf(&folder, "%s/" PINS_FOLDER, trusting->state.items[0]) < 0)
		return CTL_ERROR;
	files = opendir(folder);
	if (!files && errno != ENOENT) {
		terminal_complain("%s cannot be read: %s", folder, strerror(errno));
		return CTL_ERROR;
	}
	if (files && !trusting->options->show)
		r = own_files_lock(trusting->options, &trusting->state, PINS_FOLDER, &lock);
	while (files && r == CTL_DONE && (entry = readdir(files)))
		if (is_pin_of(entry->d_name, id))
			r = look_at_file(trusting, folder, entry->d_name);
	if (files)
		closedir(files);
	if (r == CTL_DONE && trusting->n_files == 0) {
		terminal_complain("no tools of a server are pinned for '%s' in %s", id, folder);
		return CTL_ERROR;
	}
	return r;
}

/* ── the command ─────────────────────────────────────────────────────────────────────────────── */

/* Find the state folder: the service's, or without a service the folder of a service of this
 * user. */
static int find_state(
	struct ctl_session *session, struct text_list *ret_state, bool *ret_is_running)
{
	char *path = NULL;
	int r = own_files_ask_state(session, ret_state);

	*ret_is_running = r == 0;
	if (r != CTL_NO_BUS)
		return r;
	r = paths_state(&path);
	if (path)
		r = text_list_take(ret_state, path);
	else if (r == 0)
		terminal_complain("there is no state folder: HOME is not set");
	if (r < 0)
		terminal_complain("%s", strerror(-r));
	return r == 0 && path ? CTL_DONE : CTL_ERROR;
}

static int trust(struct trusting *trusting, struct ctl_session *session)
{
	const char *id = trusting->options->positional[1];
	bool is_running;
	int r = find_state(session, &trusting->state, &is_running);

	r = r ? r : look_at_files(trusting, id);
	if (r != CTL_DONE)
		return r;
	if (trusting->n_changed == 0) {
		printf("no tool of '%s' has changed\n", id);
		return CTL_DONE;
	}
	if (trusting->options->show) {
		printf("toolboxctl trust %s accepts this\n", id);
		return CTL_DONE;
	}
	printf("%zu changed tool%s of '%s' accepted\n", trusting->n_changed,
		trusting->n_changed == 1 ? "" : "s", id);
	return is_running ? own_files_reload(session, trusting->options) : CTL_DONE;
}

int ctl_trust(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct trusting trusting = {.options = options};
	int r;

	if (!manifest_is_id(options->positional[1])) {
		terminal_complain("'%s' is no id of a toolbox: letters, digits, '_' and '-'",
			options->positional[1]);
		return CTL_USAGE;
	}
	r = ctl_session_open(options, &session);
	r = r ? r : trust(&trusting, session);
	text_list_deinit(&trusting.state);
	return r;
}
