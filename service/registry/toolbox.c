/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/toolbox.h"

#include <stdlib.h>

#include "json/writer.h"

struct toolbox *toolbox_ref(struct toolbox *toolbox)
{
	toolbox->references++;
	return toolbox;
}

static void tool_deinit(struct tool *tool)
{
	free(tool->name);
	free(tool->description);
	free(tool->argument_schema);
	free(tool->output_schema);
	free(tool->definition);
	schema_free(tool->arguments);
	schema_free(tool->output);
	native_function_deinit(&tool->native);
}

void toolbox_unref(struct toolbox *toolbox)
{
	if (!toolbox || --toolbox->references > 0)
		return;
	for (size_t i = 0; i < toolbox->n_tools; i++)
		tool_deinit(&toolbox->tools[i]);
	free(toolbox->tools);
	free(toolbox->id);
	free(toolbox->description);
	free(toolbox->file);
	toolbox_library_deinit(&toolbox->library);
	free(toolbox->load);
	free(toolbox);
}

void toolbox_write_load(struct toolbox *const *toolboxes, size_t n_toolboxes, struct buffer *out)
{
	bool is_first = true;

	buffer_append_string(out, "{\"kind\":\"native\",\"toolbox_id\":");
	json_write_text(out, toolboxes[0]->id);
	buffer_append_string(out, ",\"library\":");
	json_write_text(out, toolboxes[0]->library.path);
	buffer_append_string(out, ",\"tools\":[");
	for (size_t i = 0; i < n_toolboxes; i++)
		for (size_t j = 0; j < toolboxes[i]->n_tools; j++) {
			if (!is_first)
				buffer_append_char(out, ',');
			is_first = false;
			native_write(&toolboxes[i]->tools[j].native, out);
		}
	buffer_append_string(out, "]}");
}

const char *tool_risk_name(enum tool_risk risk)
{
	switch (risk) {
	case TOOL_UNRATED:
		return "unrated";
	case TOOL_READ:
		return "read";
	case TOOL_WRITE:
		return "write";
	case TOOL_EXECUTE:
		return "execute";
	}
	return "unrated";
}
