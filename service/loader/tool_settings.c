/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/tool_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/definition.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/cleanup.h"

/* ── one definition ──────────────────────────────────────────────────────────────────────────── */

/* Write the member @key of the definition in @tape, if there is one. */
static void write_kept(const struct json_tape *tape, const char *key, struct buffer *out)
{
	uint32_t value = json_find(tape, 0, key);

	if (value == JSON_NONE)
		return;
	buffer_printf(out, ",\"%s\":", key);
	json_write_compact(out, tape, value);
}

/* Write the optional members of a definition. */
static void write_extra(const struct json_tape *tape, const struct config_tool *settings,
	const struct tool *tool, struct buffer *out)
{
	if (tool->risk != TOOL_UNRATED)
		buffer_printf(out, ",\"risk\":\"%s\"", tool_risk_names[tool->risk]);
	write_kept(tape, "output", out);
	write_kept(tape, "title", out);
	write_kept(tape, "destructive", out);
	write_kept(tape, "idempotent", out);
	if (settings->has_parallel)
		buffer_printf(out, ",\"parallel\":%s", tool->is_parallel ? "true" : "false");
	else
		write_kept(tape, "parallel", out);
	if (settings->has_triggers) {
		buffer_append_string(out, ",\"triggers\":");
		json_write_texts(out, settings->triggers.items, settings->triggers.n_items);
	} else {
		write_kept(tape, "triggers", out);
	}
	write_kept(tape, "spoken", out);
	write_kept(tape, "examples", out);
}

static int write_definition(const struct config_tool *settings, struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer extra = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	char *definition;
	size_t size;

	if (json_tape_read(&tape, tool->definition, tool->definition_size, 2 * JSON_DEPTH_DEFAULT,
		    NULL) != 0)
		return -ENOMEM;
	write_extra(&tape, settings, tool, &extra);
	if (!buffer_terminate(&extra))
		return -ENOMEM;
	definition_write_full(tool, extra.data, &out);
	definition = buffer_take(&out, &size);
	if (!definition)
		return -ENOMEM;
	free(tool->definition);
	tool->definition = definition;
	tool->definition_size = size;
	return 0;
}

/* ── one tool ────────────────────────────────────────────────────────────────────────────────── */

static int replace_triggers(const struct text_list *texts, struct tool *tool)
{
	int r = 0;

	triggers_deinit(&tool->triggers);
	tool->triggers = (struct triggers){0};
	for (size_t i = 0; r == 0 && i < texts->n_items; i++) {
		cleanup(buffer_deinit) struct buffer reason = {0};

		/* They were compiled when the configuration was read. */
		r = triggers_add(
			&tool->triggers, texts->items[i], strlen(texts->items[i]), &reason);
	}
	return r ? -ENOMEM : 0;
}

static int apply_to(const struct config_tool *settings, struct tool *tool)
{
	char *description = settings->description ? strdup(settings->description) : NULL;

	if (settings->description && !description)
		return -ENOMEM;
	if (description) {
		free(tool->description);
		tool->description = description;
	}
	if (settings->has_triggers && replace_triggers(&settings->triggers, tool) < 0)
		return -ENOMEM;
	/* A risk from the operator is for every call of the tool. */
	if (settings->risk != TOOL_UNRATED) {
		tool->risk = settings->risk;
		free(take_ptr(tool->asked_key));
	}
	if (settings->timeout_ms)
		tool->timeout_ms = settings->timeout_ms;
	if (settings->has_cooldown)
		tool->cooldown_s = (double)settings->cooldown_s;
	if (settings->has_parallel)
		tool->is_parallel = settings->is_parallel;
	return write_definition(settings, tool);
}

/* ── all tools ───────────────────────────────────────────────────────────────────────────────── */

static uint64_t digest_of(const struct config_toolbox *settings)
{
	return settings ? settings->tools.digest : 0;
}

int tool_settings_apply(const struct config *config, struct toolbox *toolbox)
{
	const struct config_toolbox *settings = config_toolbox_find(config, toolbox->id);
	int r = 0;

	if (toolbox->settings == digest_of(settings))
		return 0;
	for (size_t i = 0; r == 0 && i < toolbox->n_tools; i++) {
		const struct config_tool *tool = config_tool_find(settings, toolbox->tools[i].name);

		if (tool)
			r = apply_to(tool, &toolbox->tools[i]);
	}
	if (r == 0)
		toolbox->settings = digest_of(settings);
	/* Hosts of this kind are given the risks. */
	return r == 0 && toolbox->package->kind == KIND_MCP ? package_prepare(toolbox->package) : r;
}

const struct tool *tool_settings_find_lowered(
	const struct config *config, const struct toolbox *toolbox)
{
	const struct config_toolbox *settings = config_toolbox_find(config, toolbox->id);

	for (size_t i = 0; toolbox->package->kind == KIND_BUS && i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];
		const struct config_tool *own = config_tool_find(settings, tool->name);

		if (own && tool->bus->is_dangerous && own->risk != TOOL_UNRATED &&
			own->risk < TOOL_EXECUTE)
			return tool;
	}
	return NULL;
}

bool tool_settings_hold(const struct config *config, const struct toolbox *toolbox)
{
	return toolbox->settings == digest_of(config_toolbox_find(config, toolbox->id));
}

bool tool_settings_hold_in(const struct config *config, const struct package *package)
{
	for (size_t i = 0; i < package->n_toolboxes; i++)
		if (!tool_settings_hold(config, package->toolboxes[i]))
			return false;
	return true;
}
