/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/toolbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	toolbox_sandbox_deinit(&toolbox->sandbox);
	free(toolbox->not_enforced);
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
	buffer_append_string(out, ",\"sandbox\":");
	toolbox_sandbox_write(&toolboxes[0]->sandbox, out);
	buffer_printf(out, ",\"memory_mb\":%u,\"tools\":[", toolboxes[0]->sandbox.memory_mb);
	for (size_t i = 0; i < n_toolboxes; i++)
		for (size_t j = 0; j < toolboxes[i]->n_tools; j++) {
			if (!is_first)
				buffer_append_char(out, ',');
			is_first = false;
			native_write(&toolboxes[i]->tools[j].native, out);
		}
	buffer_append_string(out, "]}");
}

int toolbox_prepare(struct toolbox *toolbox)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	free(toolbox->load);
	toolbox_write_load(&toolbox, 1, &out);
	toolbox->load = buffer_take(&out, &toolbox->load_size);
	return toolbox->load ? 0 : -ENOMEM;
}

int toolbox_compare_loads(const struct toolbox *left, const struct toolbox *right)
{
	int order = strcmp(left->library.path, right->library.path);

	return order != 0 ? order : toolbox_sandbox_compare(&left->sandbox, &right->sandbox);
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
