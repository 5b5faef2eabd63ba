/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/names.h"

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

void names_report_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	report_list(&config->tools_enabled, "tools_enabled", catalogue, report, data);
	report_list(&config->tools_disabled, "tools_disabled", catalogue, report, data);
	report_list(&config->approval_allow, "approval.allow", catalogue, report, data);
}
