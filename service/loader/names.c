/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/names.h"

#include <string.h>

#include "policy/filter.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* Whether @name means any tool that was found. */
static bool is_known(const struct catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue_n_tools(catalogue); i++) {
		const struct tool *tool = catalogue_tool(catalogue, i);

		if (filter_pattern_matches(name, tool->toolbox->id, tool->name))
			return true;
	}
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (skipped->name &&
			filter_pattern_matches(name, skipped->toolbox_id, skipped->name))
			return true;
	}
	return false;
}

static void report_list(const struct text_list *list, const char *key,
	const struct catalogue *catalogue, diagnostic_function report, void *data)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	for (size_t i = 0; i < list->n_items; i++)
		if (!is_known(catalogue, list->items[i]))
			buffer_printf(&text, "%s'%s'", text.size ? ", " : "no tool is called ",
				list->items[i]);
	if (text.size && buffer_terminate(&text))
		report(data, &(struct diagnostic){
				     DIAGNOSTIC_WARNING, .pointer = key, .text = text.data});
}

/* Return whether a toolbox called @id was found, all of whose tools are known. */
static bool has_known_tools(const struct catalogue *catalogue, const char *id)
{
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++)
		if (strcmp(catalogue_failure(catalogue, i)->toolbox_id, id) == 0)
			return false;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++)
		if (!catalogue_skipped(catalogue, i)->name &&
			strcmp(catalogue_skipped(catalogue, i)->toolbox_id, id) == 0)
			return false;
	return true;
}

/* Return whether the toolbox @id has the tool @name, offered or skipped. */
static bool has_tool(const struct catalogue *catalogue, const char *id, const char *name)
{
	const struct tool *tool;

	if (catalogue_find(catalogue, name, strlen(name), id, strlen(id), false, &tool) == 0 &&
		strcmp(tool->name, name) == 0)
		return true;
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		if (skipped->name && strcmp(skipped->toolbox_id, id) == 0 &&
			strcmp(skipped->name, name) == 0)
			return true;
	}
	return false;
}

/* Report the names in `toolboxes.<id>.tools` of @toolbox that no tool of it has. */
static void report_tools(const struct config_toolbox *toolbox, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer key = {0};

	if (toolbox->n_tools == 0 || !has_known_tools(catalogue, toolbox->toolbox_id))
		return;
	for (size_t i = 0; i < toolbox->n_tools; i++)
		if (!has_tool(catalogue, toolbox->toolbox_id, toolbox->tools[i].name))
			buffer_printf(&text, "%s'%s'", text.size ? ", " : "it has no tool called ",
				toolbox->tools[i].name);
	buffer_printf(&key, "toolboxes.%s.tools", toolbox->toolbox_id);
	if (text.size && buffer_terminate(&text) && buffer_terminate(&key))
		report(data, &(struct diagnostic){
				     DIAGNOSTIC_WARNING, .pointer = key.data, .text = text.data});
}

void names_report_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	report_list(&config->tools_enabled, "tools_enabled", catalogue, report, data);
	report_list(&config->tools_disabled, "tools_disabled", catalogue, report, data);
	report_list(&config->approval_allow, "approval.allow", catalogue, report, data);
	for (size_t i = 0; i < config->n_toolboxes; i++)
		report_tools(&config->toolboxes[i], catalogue, report, data);
}
