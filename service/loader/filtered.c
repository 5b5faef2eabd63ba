/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/filtered.h"

#include <errno.h>
#include <string.h>

#include "catalogue/package.h"
#include "loader/settings.h"

/* Tools that the filter, or a setting of the operator, leaves out of a catalogue. */

/* Note that each tool of @toolbox is left out for @reason, and was found by its own code, or in a
 * cached description. 0 or -ENOMEM. */
static int disable(struct catalogue *catalogue, const struct toolbox *toolbox, const char *reason)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, reason);
	if (kind_facts(toolbox->package->kind)->describes_tools)
		buffer_append_string(&text,
			"; it was described once, since a name without a toolbox may mean one of "
			"its tools: its id with /* leaves it out without a description");
	return buffer_terminate(&text) ? catalogue_disable(catalogue, toolbox->id, text.data)
				       : -ENOMEM;
}

int filtered_note(
	const struct config *config, const struct toolbox *toolbox, struct catalogue *catalogue)
{
	static const char mixed[] = "each of its tools is left out, for different reasons";
	long at = catalogue_find_toolbox(catalogue, toolbox->id, strlen(toolbox->id));
	const char *of_all = NULL;
	size_t n_left_out = 0;
	size_t n_offered = 0;
	int r = 0;

	if (at >= 0)
		catalogue_toolbox(catalogue, (size_t)at, NULL, &n_offered);
	if (n_offered == toolbox->n_tools)
		return 0;

	for (size_t i = 0; i < toolbox->n_tools && r == 0; i++) {
		const struct tool *tool = &toolbox->tools[i];
		const char *reason;

		if (settings_offer(config, tool))
			continue;
		reason = settings_refusal(config, tool);
		of_all = n_left_out++ == 0 || strcmp(of_all, reason) == 0 ? reason : mixed;
		r = catalogue_add_skipped(catalogue, toolbox->id, tool->name, reason);
	}
	if (r == 0 && n_left_out > 0 && n_left_out == toolbox->n_tools)
		r = disable(catalogue, toolbox, of_all);
	return r;
}
