/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/toolbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"

static void tool_deinit(struct tool *tool)
{
	free(tool->name);
	free(tool->description);
	free(tool->argument_schema);
	free(tool->output_schema);
	free(tool->definition);
	schema_free(tool->arguments);
	schema_free(tool->output);
	triggers_deinit(&tool->triggers);
	native_function_deinit(&tool->native);
	command_deinit(&tool->command);
}

void toolbox_drop_tools(struct toolbox *toolbox)
{
	for (size_t i = 0; i < toolbox->n_tools; i++)
		tool_deinit(&toolbox->tools[i]);
	free(toolbox->tools);
	toolbox->tools = NULL;
	toolbox->n_tools = 0;
}

void toolbox_free(struct toolbox *toolbox)
{
	if (!toolbox->is_joined)
		toolbox_drop_tools(toolbox);
	toolbox_unref(toolbox->package);
	free(toolbox->entry_point);
	free(toolbox->python.interpreters);
	free(toolbox->python.plugins);
	free(toolbox->described);
	free(toolbox->id);
	free(toolbox->description);
	free(toolbox->file);
	free(toolbox->config);
	toolbox_library_deinit(&toolbox->library);
	toolbox_sandbox_deinit(&toolbox->sandbox);
	free(toolbox->environment);
	free(toolbox->not_enforced);
	free(toolbox->load);
	free(toolbox);
}

struct toolbox *toolbox_new_member(struct toolbox *package, const char *id, const char *entry_point)
{
	cleanup(toolbox_cleanup) struct toolbox *member = calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->references = 1;
	member->package = toolbox_ref(package);
	member->id = strdup(id);
	member->entry_point = strdup(entry_point ? entry_point : id);
	member->file = strdup(package->file);
	member->not_enforced = package->not_enforced ? strdup(package->not_enforced) : NULL;
	if (!member->id || !member->entry_point || !member->file ||
		!member->not_enforced != !package->not_enforced)
		return NULL;
	member->kind = package->kind;
	member->limits = package->limits;
	member->risk = package->risk;
	member->has_risk = package->has_risk;
	member->asserts_formats = package->asserts_formats;
	member->coerces = package->coerces;
	member->sandbox.class = package->sandbox.class;
	return take_ptr(member);
}

/* Move the tools of @member to the end of those of @package, where there is room. */
static void join_member(struct toolbox *package, struct toolbox *member)
{
	struct tool *tools = &package->tools[package->n_tools];

	if (member->n_tools > 0)
		memcpy(tools, member->tools, member->n_tools * sizeof(*tools));
	free(member->tools);
	member->tools = tools;
	member->is_joined = true;
	member->member = package->n_members++;
	for (size_t i = 0; i < member->n_tools; i++)
		tools[i].index = (uint32_t)package->n_tools++;
}

int toolbox_join_members(struct toolbox *package, struct toolbox *const *members, size_t n_members)
{
	size_t n_tools = 0;

	for (size_t i = 0; i < n_members; i++)
		n_tools += members[i] ? members[i]->n_tools : 0;
	package->tools = calloc(n_tools + 1, sizeof(*package->tools));
	if (!package->tools)
		return -ENOMEM;
	for (size_t i = 0; i < n_members; i++)
		if (members[i])
			join_member(package, members[i]);
	return toolbox_prepare(package);
}

void toolbox_move_member(struct toolbox *member, struct toolbox *package)
{
	member->tools = package->tools + (member->tools - member->package->tools);
	for (size_t i = 0; i < member->n_tools; i++)
		member->tools[i].toolbox = member;
	toolbox_unref(member->package);
	member->package = toolbox_ref(package);
}

static void write_tool(const struct tool *tool, struct buffer *out)
{
	if (tool->toolbox->kind == KIND_COMMAND)
		command_write(&tool->command, tool->name, tool->toolbox->environment, out);
	else
		native_write(&tool->native, out);
}

/* How the tools of all @toolboxes are run, one after the other. */
static void write_tools(struct toolbox *const *toolboxes, size_t n_toolboxes, struct buffer *out)
{
	bool is_first = true;

	buffer_append_string(out, ",\"tools\":[");
	for (size_t i = 0; i < n_toolboxes; i++)
		for (size_t j = 0; j < toolboxes[i]->n_tools; j++) {
			if (!is_first)
				buffer_append_char(out, ',');
			is_first = false;
			write_tool(&toolboxes[i]->tools[j], out);
		}
	buffer_append_char(out, ']');
}

/* Their names: of a toolbox that tells its tools, and has told them. */
static void write_names(const struct toolbox *toolbox, struct buffer *out)
{
	buffer_append_string(out, ",\"tools\":[");
	for (size_t i = 0; i < toolbox->n_tools; i++) {
		buffer_append_string(out, i > 0 ? "," : "");
		json_write_text(out, toolbox->tools[i].name);
	}
	buffer_append_char(out, ']');
}

/* The same of all its parts: a toolbox's id, a name, and where the toolbox is found. */
static void write_triples(const struct toolbox *package, struct buffer *out)
{
	buffer_append_string(out, ",\"tools\":[");
	for (size_t i = 0; i < package->n_tools; i++) {
		buffer_append_string(out, i > 0 ? ",[" : "[");
		json_write_text(out, package->tools[i].toolbox->id);
		buffer_append_char(out, ',');
		json_write_text(out, package->tools[i].name);
		buffer_append_char(out, ',');
		json_write_text(out, package->tools[i].toolbox->entry_point);
		buffer_append_char(out, ']');
	}
	buffer_append_char(out, ']');
}

static void write_python(const struct toolbox_python *python, struct buffer *out)
{
	buffer_append_string(out, ",\"python\":");
	buffer_append_string(out, python->interpreters);
	if (python->start_timeout_ms)
		buffer_printf(out, ",\"start_timeout_ms\":%llu",
			(unsigned long long)python->start_timeout_ms);
	if (!python->plugins)
		return;
	buffer_append_string(out, ",\"plugins\":");
	buffer_append_string(out, python->plugins);
}

void toolbox_write_load(struct toolbox *const *toolboxes, size_t n_toolboxes, struct buffer *out)
{
	const struct toolbox *first = toolboxes[0];

	buffer_printf(out, "{\"kind\":\"%s\",\"toolbox_id\":", kind_facts(first->kind)->name);
	json_write_text(out, first->id);
	if (first->library.path) {
		buffer_append_string(out, ",\"library\":");
		json_write_text(out, first->library.path);
	}
	buffer_append_string(out, ",\"sandbox\":");
	toolbox_sandbox_write(&first->sandbox, out);
	buffer_printf(out, ",\"memory_mb\":%u,\"guard\":%s", first->sandbox.memory_mb,
		toolbox_has_guard(first) ? "true" : "false");
	if (first->config)
		buffer_printf(out, ",\"config\":%s", first->config);
	if (first->kind == KIND_PYTHON)
		write_python(&first->python, out);
	if (!kind_facts(first->kind)->describes_tools)
		write_tools(toolboxes, n_toolboxes, out);
	else if (first->n_members > 0)
		write_triples(first, out);
	else if (first->n_tools > 0)
		write_names(first, out);
	buffer_append_char(out, '}');
}

bool toolbox_has_guard(const struct toolbox *toolbox)
{
	return toolbox->sandbox.class == SANDBOX_COMMAND || kind_facts(toolbox->kind)->has_guard;
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
	int order = (left->kind > right->kind) - (left->kind < right->kind);

	/* What tells its own tools is asked by itself. */
	if (order == 0 && left->kind != KIND_NATIVE)
		order = strcmp(left->file, right->file);
	if (order == 0 && left->kind == KIND_NATIVE)
		order = strcmp(left->library.path, right->library.path);
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
