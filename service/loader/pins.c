/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/pins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/canonical.h"
#include "mcp/client/tools/pins.h"
#include "json/member.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/file/paths.h"
#include "util/file/stamp.h"
#include "util/text/text.h"
#include "util/text/text_list.h"

/* The names of changed tools in one line have about so many bytes. */
#define NAMES_BYTES 300

/* A stamp of no file has this time. */
#define NEVER_NS (-1)

void pins_deinit(struct pins *pins)
{
	mcp_pins_deinit(&pins->kept);
	buffer_deinit(&pins->text);
	free(pins->folder);
	free(pins->path);
	if (pins->lock >= 0)
		close(pins->lock);
	pins->lock = -1;
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

/* Write the digest of the command or the address of @package: its server. Return 0 or -ENOMEM. */
static int write_server(const struct package *package, char ret_text[2 * MCP_PIN_BYTES + 1])
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *server = package->mcp.server;
	unsigned char digest[MCP_PIN_BYTES];
	uint32_t value;

	if (json_tape_read(&tape, server, strlen(server), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	value = json_find(&tape, 0, package->mcp.is_http ? "url" : "argv");
	json_write_canonical(&text, &tape, value == JSON_NONE ? 0 : value);
	if (buffer_status(&text) < 0)
		return -ENOMEM;
	mcp_pin_digest(text.data, text.size, digest);
	text_write_hex(digest, sizeof(digest), ret_text);
	return 0;
}

/* Find the file of the pins of @package, in the state folder *@ret_state. Return 0; -ENOENT when
 * there is no state folder, or another negative errno. */
static int find_file(const struct package *package, struct pins *pins, char **ret_state)
{
	cleanup_free char *state = NULL;
	int r = paths_state(&state);

	if (r < 0 || !state)
		return r < 0 ? r : -ENOENT;
	if (write_server(package, pins->server) < 0)
		return -ENOMEM;
	if (asprintf(&pins->folder, "%s/" PINS_FOLDER, state) < 0) {
		pins->folder = NULL;
		return -ENOMEM;
	}
	if (asprintf(&pins->path, "%s/%s.%.*s.json", pins->folder, package->id, PINS_DIGITS,
		    pins->server) < 0) {
		pins->path = NULL;
		return -ENOMEM;
	}
	pins->name = pins->path + strlen(pins->folder) + 1;
	*ret_state = take_ptr(state);
	return 0;
}

/* Look at the file at @path. A file open to other writers is no record. Return 0, -ENOENT, or
 * another negative errno. */
static int look(const char *path, struct stamp *ret_stamp)
{
	struct stat status;

	*ret_stamp = (struct stamp){0};
	if (lstat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
		(status.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	stamp_take(&status, ret_stamp);
	return 0;
}

bool pins_hold(const struct package *package)
{
	cleanup(pins_deinit) struct pins pins = {.lock = -1};
	cleanup_free char *state = NULL;
	const struct stamp *before = &package->mcp.pins;
	struct stamp now;

	if (package->mcp.pin == MCP_PIN_OFF || find_file(package, &pins, &state) < 0)
		return true;
	look(pins.path, &now);
	/* Each change makes a file of its own. */
	return now.device == before->device && now.inode == before->inode &&
	       now.noted_ns == before->noted_ns;
}

/* ── comparing ───────────────────────────────────────────────────────────────────────────────── */

/* The tools of a toolbox by the names of their server. */
struct by_name {
	const char *name; /* first, for text_compare() */
	size_t index;
};

static struct by_name *order_tools(const struct toolbox *toolbox)
{
	struct by_name *order = calloc(toolbox->n_tools + 1, sizeof(*order));

	for (size_t i = 0; order && i < toolbox->n_tools; i++)
		order[i] = (struct by_name){toolbox->tools[i].server_name, i};
	if (order)
		qsort(order, toolbox->n_tools, sizeof(*order), text_compare);
	return order;
}

/* Compare each tool of @toolbox with its pin. Mark changed tools in @is_changed. 0 or -ENOMEM. */
static int see_tools(struct mcp_pins *pins, const struct toolbox *toolbox,
	const struct json_tape *described, bool *is_changed)
{
	cleanup_free struct by_name *order = order_tools(toolbox);
	cleanup_free bool *is_seen = calloc(toolbox->n_tools + 1, sizeof(*is_seen));
	uint32_t list = json_find(described, 0, "list");
	int r = order && is_seen ? 0 : -ENOMEM;

	json_each_while(r == 0, at, described, list) {
		uint32_t token = json_type_at(described, at) == JSON_OBJECT
					 ? json_find_typed(described, at, "name", JSON_STRING)
					 : JSON_NONE;
		cleanup_free char *name =
			token == JSON_NONE ? NULL : json_string_dup(described, token, NULL);
		const struct by_name wanted = {.name = name};
		const struct by_name *found = name ? bsearch(&wanted, order, toolbox->n_tools,
							     sizeof(wanted), text_compare)
						   : NULL;
		enum mcp_pin_verdict verdict;

		if (token != JSON_NONE && !name)
			return -ENOMEM;
		if (!found || is_seen[found->index])
			continue;
		is_seen[found->index] = true;
		r = mcp_pins_see(pins, described, at, name, &verdict);
		is_changed[found->index] = r == 0 && verdict == MCP_PIN_CHANGED;
	}
	return r;
}

/* ── what follows ────────────────────────────────────────────────────────────────────────────── */

/* Leave out the tools marked in @is_dropped (NULL: all), with the reason @text. 0 or -ENOMEM. */
static int drop_tools(struct package *package, const bool *is_dropped, const char *text)
{
	struct toolbox *toolbox = package->toolboxes[0];
	int r = 0;

	for (size_t i = 0; r == 0 && i < toolbox->n_tools; i++)
		if (!is_dropped || is_dropped[i])
			r = skipped_list_add(
				&package->left_out, toolbox->tools[i].server_name, text);
	if (r < 0)
		return r;
	toolbox_drop_tools(toolbox, is_dropped);
	return package_prepare(package);
}

/* The pins cannot be read or kept: @what, and the reason @error. 0 or -ENOMEM. */
static int fail_package(struct package *package, const char *path, const char *what,
	const char *error, struct diagnostics *problems)
{
	char text[512];

	snprintf(text, sizeof(text),
		"the pins of its tools, which show changes, cannot be %s: %s: %s", what,
		path ? path : "there is no state folder", error);
	diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "", "%s", text);
	return package->mcp.pin == MCP_PIN_BLOCK ? drop_tools(package, NULL, text) : 0;
}

/* Report the changed tools, and leave them out with block. 0 or -ENOMEM. */
static int report_changes(
	struct package *package, const bool *is_changed, struct diagnostics *problems)
{
	const struct toolbox *toolbox = package->toolboxes[0];
	cleanup(text_list_deinit) struct text_list names = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	char *line;
	int r = 0;

	for (size_t i = 0; r == 0 && i < toolbox->n_tools; i++)
		if (is_changed[i])
			r = text_list_add(&names, toolbox->tools[i].name);
	if (r < 0 || names.n_items == 0)
		return r;
	buffer_printf(&text, "its server has changed %zu tool%s", names.n_items,
		names.n_items == 1 ? "" : "s");
	text_list_write(&names, NAMES_BYTES, &text);
	buffer_printf(&text, " (`toolboxctl trust %s --show` shows how)", package->id);
	line = buffer_terminate(&text);
	if (!line)
		return -ENOMEM;
	diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "", "%s", line);
	if (package->mcp.pin != MCP_PIN_BLOCK)
		return skipped_list_add(&package->left_out, NULL, line);
	buffer_reset(&text);
	buffer_printf(&text,
		"its server has changed it: `toolboxctl trust %s --show` shows how, and "
		"`toolboxctl trust %s` accepts it",
		package->id, package->id);
	line = buffer_terminate(&text);
	return line ? drop_tools(package, is_changed, line) : -ENOMEM;
}

/* Keep what is new. Return 0 or a negative errno; the next load then compares @package anew. */
static int keep(struct pins *pins, struct package *package)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = pins->lock < 0 ? pins->lock : 0;

	if (!pins->kept.is_new)
		return 0;
	r = r ? r : mcp_pins_write(&pins->kept, pins->server, &text);
	r = r ? r : file_replace(pins->folder, pins->name, text.data, text.size, 0600);
	r = r ? r : look(pins->path, &package->mcp.pins);
	if (r < 0)
		package->mcp.pins.noted_ns = NEVER_NS;
	return r;
}

static const char *reason_of(int error)
{
	if (error == MCP_PINS_E_WRONG)
		return "it is no such file; remove it to have all tools pinned anew";
	if (error == -EAGAIN)
		return "another program has the lock of the state folder (.lock); the next load "
		       "tries again";
	if (error == -EPERM)
		return "it must be a regular file that only the service's own user may write";
	return strerror(-error);
}

int pins_read(struct package *package, struct pins *ret_pins)
{
	cleanup_free char *state = NULL;
	struct mcp_pins *kept = &ret_pins->kept;
	struct buffer *text = &ret_pins->text;
	int r;

	if (package->mcp.pin == MCP_PIN_OFF)
		return 0;
	r = find_file(package, ret_pins, &state);
	if (r == 0) {
		int error = file_lock(state, PINS_LOCK_MS, &ret_pins->lock);

		if (error < 0)
			ret_pins->lock = error;
		r = look(ret_pins->path, &package->mcp.pins);
		r = r ? r : file_read(ret_pins->path, MCP_PINS_FILE_BYTES, text);
		if (r == -ENOENT || r == -ENOTDIR)
			r = 0;
		r = r ? r : mcp_pins_read(kept, text->data, text->size, ret_pins->server);
		kept->is_unknown = r != 0;
	}
	ret_pins->error = r;
	return r == -ENOMEM ? r : 0;
}

int pins_compare(struct pins *pins, struct package *package, const struct json_tape *described,
	struct diagnostics *problems)
{
	cleanup_free bool *is_changed = NULL;
	int r;

	if (package->mcp.pin == MCP_PIN_OFF)
		return 0;
	if (pins->error)
		return fail_package(package, pins->path, pins->path ? "read" : "kept",
			reason_of(pins->error), problems);
	is_changed = calloc(package->toolboxes[0]->n_tools + 1, sizeof(*is_changed));
	r = is_changed ? see_tools(&pins->kept, package->toolboxes[0], described, is_changed)
		       : -ENOMEM;
	if (r < 0)
		return r;
	r = keep(pins, package);
	if (r < 0)
		return r == -ENOMEM
			       ? r
			       : fail_package(package, pins->path, "kept", reason_of(r), problems);
	return report_changes(package, is_changed, problems);
}
