/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/definition.h"
#include "catalogue/package.h"
#include "catalogue/tool_schemas.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "manifest/bus/bus.h"
#include "manifest/command.h"
#include "manifest/native/native.h"
#include "manifest/published.h"
#include "manifest/tool/run_llm.h"
#include "manifest/tool/check_examples.h"
#include "manifest/voice/spoken_names.h"
#include "manifest/voice/trigger_groups.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text/text.h"

bool manifest_is_tool_name(const char *name, size_t size)
{
	if (size == 0 || size > TOOL_NAME_BYTES || strchr("0123456789-", name[0]))
		return false;
	return text_span_name(name) == size;
}

static int read_tool_name(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t token = json_find(scope->tape, object, "name");
	size_t size;

	tool->name = json_string_dup(scope->tape, token, &size);
	if (!tool->name)
		return -ENOMEM;
	if (!manifest_is_tool_name(tool->name, size))
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token,
			"the tool name '%.64s' must begin with a letter or '_' and hold at most %d "
			"letters, digits, '_' or '-'",
			tool->name, TOOL_NAME_BYTES);
	return 0;
}

/* Read the name of an argument into @ret_name; nothing when there is none. */
static int read_argument_name(
	const struct manifest_scope *scope, uint32_t object, const char *key, char **ret_name)
{
	uint32_t token = json_find(scope->tape, object, key);

	if (token == JSON_NONE)
		return 0;
	*ret_name = json_string_dup(scope->tape, token, NULL);
	return *ret_name ? 0 : -ENOMEM;
}

static enum tool_task read_task(const struct json_tape *tape, uint32_t object)
{
	static const char *const words[] = {
		[TOOL_TASK_FORBIDDEN] = "forbidden",
		[TOOL_TASK_OPTIONAL] = "optional",
		[TOOL_TASK_REQUIRED] = "required",
	};
	uint32_t task = json_find(tape, object, "task");

	for (size_t i = TOOL_TASK_FORBIDDEN; i < ARRAY_SIZE(words); i++)
		if (json_is_text(tape, task, words[i]))
			return (enum tool_task)i;
	return TOOL_TASK_BY_TIME;
}

/* Read the limits of a call, and its risk. The shape has bounded the numbers. */
static void read_numbers(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	const struct json_tape *tape = scope->tape;
	uint32_t parallel = json_find(tape, object, "parallel");
	uint32_t risk = json_find(tape, object, "risk");
	uint32_t given = json_find(tape, object, "given");
	uint64_t max = 0;

	tool->is_experimental = json_member_is_true(tape, object, "experimental");
	if (given != JSON_NONE)
		tool->given = json_is_text(tape, given, "conversation") ? GIVEN_CONVERSATION
									: GIVEN_STATISTICS;
	json_read_u64(tape, json_find(tape, object, "result_max_chars"), &max);
	tool->result_max_chars = (uint32_t)max;
	tool->is_parallel = parallel == JSON_NONE || json_is_true(tape, parallel);
	tool->risk = risk != JSON_NONE ? tool_risk_at(tape, risk) : scope->toolbox->package->risk;
	if (tool->risk == TOOL_UNRATED && scope->toolbox->package->kind == KIND_PYTHON)
		tool->risk = published_risk(scope->published, scope->toolbox->id, tool->name);
	json_read_u64(tape, json_find(tape, object, "timeout_ms"), &tool->timeout_ms);
	tool->task = read_task(tape, object);
	json_read_f64(tape, json_find(tape, object, "cooldown_s"), &tool->cooldown_s);
}

static int read_trigger(const struct manifest_scope *scope, uint32_t token, struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r;

	json_string_decode(scope->tape, token, &text);
	r = buffer_status(&text);
	if (r == 0)
		r = triggers_add(&tool->triggers, buffer_text(&text), text.size, &reason);
	if (r > 0)
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, token, "%s", reason.data);
	return r < 0 ? r : 0;
}

static int read_triggers(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	const struct json_tape *tape = scope->tape;
	uint32_t list = json_find(tape, object, "triggers");
	int r = 0;

	json_each_found_while(r == 0, at, tape, list)
		r = read_trigger(scope, at, tool);
	return r;
}

/* Write the optional members of a definition, if given by the manifest. */
static void write_extra(const struct manifest_scope *scope, uint32_t object,
	const struct tool *tool, struct buffer *out)
{
	static const char *const keys[] = {
		"title", "destructive", "idempotent", "parallel", "triggers", "spoken", "examples"};

	if (tool->risk != TOOL_UNRATED)
		buffer_printf(out, ",\"risk\":\"%s\"", tool_risk_names[tool->risk]);
	if (tool->has_content)
		buffer_append_string(out, ",\"output\":\"content\"");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t token = json_find(scope->tape, object, keys[i]);

		if (token == JSON_NONE)
			continue;
		buffer_printf(out, ",\"%s\":", keys[i]);
		json_write_compact(out, scope->tape, token);
	}
}

static int write_definition(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer extra = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	write_extra(scope, object, tool, &extra);
	if (!buffer_terminate(&extra))
		return -ENOMEM;
	definition_write_full(tool, extra.data, &out);
	tool->definition = buffer_take(&out, &tool->definition_size);
	return tool->definition ? 0 : -ENOMEM;
}

/* One key describes how a tool is called: the key of its toolbox's kind. */
static void refuse_keys_of_others(const struct manifest_scope *scope, uint32_t object)
{
	const char *kind = kind_facts(scope->toolbox->package->kind)->name;

	for (int other = 0; other < N_KINDS; other++) {
		const char *key = kind_facts((enum toolbox_kind)other)->name;
		uint32_t value = json_find(scope->tape, object, key);

		if (value != JSON_NONE && (enum toolbox_kind)other != scope->toolbox->package->kind)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, value,
				"\"%s\" is not a key of a tool of the kind \"%s\"; leave it out",
				key, kind);
	}
}

/* Only the process of a plugin reads the given knowledge, and only its code is trusted to name the
 * calls that need a person. */
static void refuse_keys_of_plugins(const struct manifest_scope *scope, uint32_t object)
{
	static const char *const keys[] = {"given", "grant_key", "asked_key"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t value = json_find(scope->tape, object, keys[i]);

		if (value != JSON_NONE && scope->toolbox->package->kind != KIND_PLUGIN)
			diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, value,
				"is for tools of plugins, by toolbox.h; leave it out");
	}
}

/* Refuse what only native tools have. */
static void refuse_exclusive(const struct manifest_scope *scope, uint32_t object)
{
	uint32_t value = json_find(scope->tape, object, "exclusive");

	if (value != JSON_NONE && scope->toolbox->package->kind != KIND_NATIVE)
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape, value,
			"is for tools of the kind \"native\", whose 'init' sets handles; "
			"\"parallel\": false lets a tool run alone");
}

/* Return whether @schema declares the property @name as a text at its root. */
static bool declares_text(const struct json_tape *schema, const char *name)
{
	uint32_t properties = json_find_typed_at(schema, 0, "properties", JSON_OBJECT);
	uint32_t property = json_find_typed(schema, properties, name, JSON_OBJECT);
	uint32_t type = json_find_typed(schema, property, "type", JSON_STRING);

	return json_is_text(schema, type, "string");
}

/* Refuse an `asked_key` that names no text of the arguments: no call would need a person. 0 or
 * -ENOMEM. */
static int check_asked_key(
	const struct manifest_scope *scope, uint32_t object, const struct tool *tool)
{
	cleanup(json_tape_cleanup) struct json_tape schema = {0};

	if (!tool->asked_key)
		return 0;
	if (json_tape_read(&schema, tool->argument_schema, strlen(tool->argument_schema),
		    2 * JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	if (!declares_text(&schema, tool->asked_key))
		diagnose(scope->problems, DIAGNOSTIC_ERROR, scope->tape,
			json_find(scope->tape, object, "asked_key"),
			"must name a property of 'argument_schema' of the type \"string\"");
	return 0;
}

/* Read the part for running the tool, and its schemas, by its kind. */
static int read_runner(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	switch (scope->toolbox->package->kind) {
	case KIND_NATIVE:
		return manifest_native_read(scope, object, tool);
	case KIND_COMMAND:
		return manifest_command_read(scope, object, tool);
	case KIND_BUS:
		return manifest_bus_read(scope, object, tool);
	case KIND_PLUGIN:
	case KIND_PYTHON:
	case KIND_PYTHON_FILE:
	case KIND_MCP:
	case KIND_GUEST:
		break;
	}
	tool->has_content = scope->toolbox->package->has_content;
	return manifest_scope_read_schemas(scope, object, "{\"type\":\"object\"}", tool);
}

int manifest_tool_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t description = json_find(scope->tape, object, "description");
	size_t errors = scope->problems->n_errors;
	uint64_t began = clock_thread_ns();
	int r;

	tool->description = description != JSON_NONE
				    ? json_string_dup(scope->tape, description, NULL)
				    : strdup("");
	tool->schemas = tool_schemas_new();
	if (!tool->description || !tool->schemas)
		return -ENOMEM;
	refuse_keys_of_others(scope, object);
	refuse_keys_of_plugins(scope, object);
	refuse_exclusive(scope, object);
	r = read_tool_name(scope, object, tool);
	if (r == 0)
		r = manifest_read_off(
			scope->tape, object, scope->toolbox->id, tool->name, &tool->off);
	if (r == 0)
		r = read_argument_name(scope, object, "grant_key", &tool->grant_key);
	if (r == 0)
		r = read_argument_name(scope, object, "asked_key", &tool->asked_key);
	if (r == 0)
		read_numbers(scope, object, tool);
	if (r == 0)
		r = read_triggers(scope, object, tool);
	if (r == 0)
		r = read_runner(scope, object, tool);
	if (r < 0 || scope->problems->n_errors > errors)
		return r;
	r = check_asked_key(scope, object, tool);
	if (r == 0)
		r = manifest_run_llm_read(scope, object, tool);
	if (r == 0)
		r = manifest_trigger_groups_check(scope, object, tool);
	if (r == 0)
		r = manifest_spoken_read(scope, object, tool);
	if (r == 0 && scope->problems->n_errors == errors)
		r = manifest_check_examples(scope, object, tool);
	if (clock_thread_ns() - began <= TOOL_SCHEMAS_REST_NS_MAX)
		tool_schemas_rest(tool->schemas);
	return r == 0 ? write_definition(scope, object, tool) : r;
}
