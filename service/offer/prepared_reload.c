/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/prepared_reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/definition.h"
#include "offer/summary.h"
#include "json/writer.h"
#include "loader/changes.h"
#include "loader/warn/names.h"

void prepared_reload_write_loaded(const struct catalogue *catalogue, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		size_t n_tools;
		const struct toolbox *toolbox = catalogue_toolbox(catalogue, i, NULL, &n_tools);

		if (n_tools == 0)
			continue;
		json_write_comma(out);
		json_write_text(out, toolbox->id);
	}
	buffer_append_char(out, ']');
}

static void write_tool_names(const char *key, const struct text_list *names, struct buffer *out)
{
	json_write_member(out, key);
	json_write_texts(out, names->items, names->n_items);
}

static void write_change_members(
	const struct catalogue *catalogue, const struct changes *changes, struct buffer *out)
{
	json_write_key(out, "loaded");
	prepared_reload_write_loaded(catalogue, out);
	buffer_printf(out, ",\"total_tools\":%zu", catalogue_n_tools(catalogue));
	write_tool_names("added", &changes->added, out);
	write_tool_names("removed", &changes->removed, out);
	write_tool_names("changed", &changes->changed, out);
}

static void write_tools(const struct catalogue *catalogue, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		definition_write(catalogue_tool(catalogue, i), DEFINITION_FULL, NULL, out);
	}
	buffer_append_char(out, ']');
}

/* A diagnostic_function. */
static void keep_diagnostic(void *data, const struct diagnostic *diagnostic)
{
	diagnostics_add(data, diagnostic->severity, 0, diagnostic->pointer, "%s", diagnostic->text);
}

/* Return 0 or -ENOMEM. */
static int find_shared_names(const struct catalogue *catalogue, struct text_list *shared)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);
		const struct tool *last;
		char *text;

		if (!catalogue_is_shared_name(catalogue, tool->name) ||
			catalogue_find(catalogue, tool->name, strlen(tool->name), NULL, 0, true,
				&last) != 0 ||
			last == tool)
			continue;
		if (asprintf(&text, "The tool name '%s' is in %s and in %s", tool->name,
			    tool->toolbox->package->file, last->toolbox->package->file) < 0)
			return -ENOMEM;
		r = text_list_take(shared, text);
	}
	return r;
}

/* Return whether both have the same packages: nothing was read anew. */
static bool have_same_packages(const struct catalogue *previous, const struct catalogue *catalogue)
{
	size_t n = catalogue_n_toolboxes(catalogue);
	bool are_same = previous && catalogue_n_toolboxes(previous) == n &&
			catalogue_n_held(previous) == catalogue_n_held(catalogue);

	for (size_t i = 0; are_same && i < n; i++)
		are_same = catalogue_toolbox(previous, i, NULL, NULL)->package ==
			   catalogue_toolbox(catalogue, i, NULL, NULL)->package;
	for (size_t i = 0; are_same && i < catalogue_n_held(catalogue); i++)
		are_same = catalogue_held(previous, i) == catalogue_held(catalogue, i);
	return are_same;
}

void prepared_reload_make(struct prepared_reload *next, const struct config *config,
	const struct catalogue *previous, const struct catalogue *catalogue)
{
	cleanup(changes_deinit) struct changes changes = {0};

	next->keeps_packages = have_same_packages(previous, catalogue);
	next->status = changes_find(previous, catalogue, &changes);
	if (!config->is_second)
		warn_unknown(config, catalogue, keep_diagnostic, &next->unknown);
	if (next->status == 0)
		next->status = find_shared_names(catalogue, &next->shared);
	if (next->status == 0 && previous)
		next->status = summary_write(previous, catalogue, &changes, &next->summary);
	if (next->status == 0 && next->is_detailed)
		next->status = summary_add_details(previous, catalogue, &next->details);
	if (next->status == 0 && next->is_answered) {
		write_tools(catalogue, &next->tools);
		next->status = buffer_status(&next->tools);
	}
	next->has_changes = !changes_are_empty(&changes);
	if (next->status < 0 || !next->has_changes)
		return;
	write_change_members(catalogue, &changes, &next->members);
	next->status = buffer_status(&next->members);
}

void prepared_reload_deinit(struct prepared_reload *next)
{
	buffer_deinit(&next->members);
	diagnostics_deinit(&next->unknown);
	text_list_deinit(&next->shared);
	buffer_deinit(&next->summary);
	text_list_deinit(&next->details);
	buffer_deinit(&next->tools);
	*next = (struct prepared_reload){0};
}
