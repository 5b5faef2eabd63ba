/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "util/cleanup.h"
#include "worker/float_mode.h"
#include "worker/plugin/parameters.h"

/* Sizes up to the last members of version 1. */
#define PLUGIN_SIZE_MIN (offsetof(struct toolbox_plugin, deinit) + sizeof(void (*)(void)))
#define TOOL_SIZE_MIN   (offsetof(struct toolbox_tool, validate) + sizeof(toolbox_handler))

/* No later version has structs this large: the size must be wrong. */
#define STRUCT_SIZE_MAX 4096u

/* The input of plugin_table_read(), and the list for a refusal. */
struct reading {
	const struct driver_load *load;
	struct diagnostics *problems;
	struct toolbox_plugin plugin;
	struct plugin_table *table;
	struct json_tape tape; /* JSON of tools, one text after the other */
};

__attribute__((format(printf, 2, 3))) static int refuse_plugin(
	const struct reading *reading, const char *format, ...)
{
	const struct json_tape *tape = reading->load->tape;
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = driver_refuse_with(
		reading->problems, tape, json_find(tape, 0, "library"), format, arguments);
	va_end(arguments);
	return r;
}

/* Copy a struct of @given bytes to one of ours. Return whether the copy is complete. */
static bool copy_struct(void *ours, size_t size, const void *theirs, size_t given)
{
	const unsigned char *bytes = theirs;

	memset(ours, 0, size);
	memcpy(ours, theirs, given < size ? given : size);
	for (size_t i = size; i < given; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static int refuse_newer(const struct reading *reading, const char *what)
{
	return refuse_plugin(reading,
		"it uses %s of a later version of toolbox.h than %u, which this toolboxd has: "
		"update toolboxd",
		what, TOOLBOX_API_VERSION);
}

/* Check the struct's version and sizes, then copy it. */
static int read_plugin(struct reading *reading, const void *symbol, size_t size)
{
	uint32_t head[2];

	if (size < sizeof(head))
		return refuse_plugin(reading,
			"'toolbox_plugin' has %zu bytes: it is not a struct toolbox_plugin", size);
	memcpy(head, symbol, sizeof(head));
	if (head[0] < 1)
		return refuse_plugin(reading,
			"'toolbox_plugin' has the api_version 0: begin it with "
			"TOOLBOX_API_VERSION, or use TOOLBOX_PLUGIN()");
	if (head[0] > TOOLBOX_API_VERSION)
		return refuse_plugin(reading,
			"it is built for version %u of toolbox.h, and this toolboxd has version "
			"%u: update toolboxd, or build it with that version",
			head[0], TOOLBOX_API_VERSION);
	if (head[1] < PLUGIN_SIZE_MIN || head[1] > STRUCT_SIZE_MAX || head[1] > size)
		return refuse_plugin(reading,
			"'toolbox_plugin' has the size %u, and takes %zu bytes; a struct "
			"toolbox_plugin has at least %zu",
			head[1], size, PLUGIN_SIZE_MIN);
	if (!copy_struct(&reading->plugin, sizeof(reading->plugin), symbol, head[1]))
		return refuse_newer(reading, "members of struct toolbox_plugin");
	if (reading->plugin.tool_size < TOOL_SIZE_MIN ||
		reading->plugin.tool_size > STRUCT_SIZE_MAX)
		return refuse_plugin(reading,
			"'toolbox_plugin' has the tool_size %u; a struct toolbox_tool has at least "
			"%zu",
			reading->plugin.tool_size, TOOL_SIZE_MIN);
	return 0;
}

static int initialise(struct reading *reading)
{
	const struct json_tape *tape = reading->load->tape;
	uint32_t token = json_find(tape, 0, "config");
	const char *config = "{}";
	size_t size = strlen(config);
	struct toolbox_call call;
	const char *reason;
	struct float_mode mode = float_mode_get();
	int status = 0;
	int r;

	if (token != JSON_NONE)
		config = json_value_text(tape, token, &size);
	r = plugin_call_configure(reading->load->wire, config, size, &call);
	if (r)
		return r;
	if (reading->plugin.init)
		status = reading->plugin.init(
			call, &reading->plugin.tools, &reading->plugin.n_tools);
	float_mode_restore(mode);
	reason = plugin_call_configured();
	if (status == 0 && !reason)
		return 0;
	return reason ? refuse_plugin(reading, "its init() has failed: %s", reason)
		      : refuse_plugin(reading, "its init() has failed: it returned %d", status);
}

static void write_tool_text(struct buffer *out, const char *key, const char *text)
{
	json_write_member(out, key);
	json_write_bytes_lossy(out, text, strlen(text));
}

/* Write @json, if it is not NULL. The daemon judges it, but it must be valid JSON here, as a part
 * of other JSON. */
static int write_tool_json(struct reading *reading, const char *name, const char *key,
	const char *json, struct buffer *out)
{
	struct json_error error;
	int r;

	if (!json)
		return 0;
	r = json_tape_read(&reading->tape, json, strlen(json), JSON_DEPTH_DEFAULT, &error);
	if (r > 0)
		return refuse_plugin(reading, "the tool '%s': its %s is not JSON: %s at byte %zu",
			name, key, error.message, error.offset);
	if (r < 0)
		return r;
	json_write_member_value(out, key, &reading->tape, 0);
	return 0;
}

/* Write the argument schema, from JSON text or from parameters. */
static int describe_arguments(
	struct reading *reading, const struct toolbox_tool *tool, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer why = {0};
	int r;

	if (!tool->parameters)
		return write_tool_json(
			reading, tool->name, "argument_schema", tool->argument_schema, out);
	if (tool->argument_schema)
		return refuse_plugin(reading,
			"the tool '%s' has an argument_schema and parameters: leave one out",
			tool->name);
	buffer_append_string(out, ",\"argument_schema\":");
	r = plugin_parameters_write(tool->parameters, out, &why);
	if (r == PLUGIN_PARAMETERS_E_WRONG && buffer_terminate(&why))
		return refuse_plugin(reading, "the tool '%s': %s", tool->name, why.data);
	return r > 0 ? -ENOMEM : r;
}

static void write_triggers(const char *const *triggers, struct buffer *out)
{
	if (!triggers)
		return;
	buffer_append_string(out, ",\"triggers\":[");
	for (; *triggers; triggers++) {
		json_write_comma(out);
		json_write_bytes_lossy(out, *triggers, strlen(*triggers));
	}
	buffer_append_char(out, ']');
}

/* Write the entry of a manifest for the tool. */
static int write_tool(struct reading *reading, const struct toolbox_tool *tool, struct buffer *out)
{
	static const char *const risks[] = {NULL, "read", "write", "execute"};
	int r;

	buffer_append_string(out, "{\"name\":");
	json_write_bytes_lossy(out, tool->name, strlen(tool->name));
	if (tool->description)
		write_tool_text(out, "description", tool->description);
	if (tool->title)
		write_tool_text(out, "title", tool->title);
	r = describe_arguments(reading, tool, out);
	r = r ? r : write_tool_json(reading, tool->name, "output_schema", tool->output_schema, out);
	r = r ? r : write_tool_json(reading, tool->name, "spoken", tool->spoken, out);
	r = r ? r : write_tool_json(reading, tool->name, "examples", tool->examples, out);
	if (r)
		return r;
	if (tool->risk != TOOLBOX_UNRATED)
		write_tool_text(out, "risk", risks[tool->risk]);
	if (tool->given)
		write_tool_text(out, "given", tool->given);
	if (tool->flags & TOOLBOX_ALONE)
		buffer_append_string(out, ",\"parallel\":false");
	if (tool->flags & TOOLBOX_IDEMPOTENT)
		buffer_append_string(out, ",\"idempotent\":true");
	if (tool->result_max_chars > 0)
		buffer_printf(out, ",\"result_max_chars\":%u", tool->result_max_chars);
	if (tool->timeout_ms > 0)
		buffer_printf(out, ",\"timeout_ms\":%u", tool->timeout_ms);
	if (tool->cooldown_s > 0)
		buffer_printf(out, ",\"cooldown_s\":%u", tool->cooldown_s);
	if (tool->grant_key)
		write_tool_text(out, "grant_key", tool->grant_key);
	if (tool->asked_key)
		write_tool_text(out, "asked_key", tool->asked_key);
	write_triggers(tool->triggers, out);
	buffer_append_char(out, '}');
	return buffer_status(out);
}

/* Copy the tool at @theirs, and check for every possible mistake in C. */
static int copy_tool(const struct reading *reading, const void *theirs, uint32_t index,
	struct toolbox_tool *tool)
{
	if (!copy_struct(tool, sizeof(*tool), theirs, reading->plugin.tool_size))
		return refuse_newer(reading, "members of struct toolbox_tool");
	if (!tool->name)
		return refuse_plugin(reading, "the tool at %u of its table has no name", index);
	if (!tool->handler)
		return refuse_plugin(reading, "the tool '%s' has no handler", tool->name);
	if (tool->risk > TOOLBOX_EXECUTE)
		return refuse_plugin(reading,
			"the tool '%s' has the risk %u: an enum toolbox_risk was expected",
			tool->name, tool->risk);
	if (tool->flags & ~(TOOLBOX_ALONE | TOOLBOX_IDEMPOTENT))
		return refuse_newer(reading, "flags of a tool");
	return 0;
}

static int read_tool(struct reading *reading, uint32_t index)
{
	struct plugin_table *table = reading->table;
	struct plugin_function *function = &table->functions[index];
	struct toolbox_tool tool;
	int r = copy_tool(reading,
		(const char *)reading->plugin.tools + (size_t)index * reading->plugin.tool_size,
		index, &tool);

	if (r)
		return r;
	function->name = strdup(tool.name);
	if (!function->name)
		return -ENOMEM;
	table->n_functions++;
	function->handler = tool.handler;
	function->validate = tool.validate;
	function->data = tool.data;
	buffer_append_char(&table->described, index == 0 ? '[' : ',');
	return write_tool(reading, &tool, &table->described);
}

static int read_tools(struct reading *reading)
{
	uint32_t n_tools = reading->plugin.n_tools;
	int r = 0;

	if (n_tools == 0 || !reading->plugin.tools)
		return refuse_plugin(reading, "it has no tools");
	if (n_tools > PLUGIN_TOOLS_MAX)
		return refuse_plugin(
			reading, "it has %u tools: at most %u are read", n_tools, PLUGIN_TOOLS_MAX);
	reading->table->functions = calloc(n_tools, sizeof(*reading->table->functions));
	if (!reading->table->functions)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n_tools; i++)
		r = read_tool(reading, i);
	buffer_append_char(&reading->table->described, ']');
	return r ? r : buffer_status(&reading->table->described);
}

int plugin_table_read(const struct driver_load *load, const void *symbol, size_t size,
	struct plugin_table *ret_table, struct diagnostics *problems)
{
	struct reading reading = {.load = load, .problems = problems, .table = ret_table};
	int r = read_plugin(&reading, symbol, size);

	if (r == 0)
		r = initialise(&reading);
	if (r == 0) {
		ret_table->deinit = reading.plugin.deinit;
		ret_table->replaced = reading.plugin.replaced;
		r = read_tools(&reading);
	}
	json_tape_deinit(&reading.tape);
	return r;
}

void plugin_table_deinit(struct plugin_table *table)
{
	for (uint32_t i = 0; i < table->n_functions; i++)
		free(table->functions[i].name);
	free(table->functions);
	buffer_deinit(&table->described);
	*table = (struct plugin_table){0};
}
