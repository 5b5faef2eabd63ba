/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/model_schema.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

static const char pair[] =
	"{\"type\":\"function\",\"function\":{\"name\":\"" TOOLS_SEARCH "\",\"description\":"
	"\"Find tools by what they do. There are more tools than the ones listed here.\","
	"\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\","
	"\"description\":\"What the tool should do, in a few "
	"words.\"}},\"required\":[\"query\"]}}},"
	"{\"type\":\"function\",\"function\":{\"name\":\"" TOOLS_CALL "\",\"description\":"
	"\"Call a tool that " TOOLS_SEARCH " has found.\",\"parameters\":{\"type\":\"object\","
	"\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"The name of the tool.\"},"
	"\"arguments\":{\"type\":\"object\",\"description\":\"Its arguments.\"}},"
	"\"required\":[\"name\",\"arguments\"]}}}";

/* ── one tool ────────────────────────────────────────────────────────────────────────────────── */

static void deinit_tool(struct offered_tool *tool)
{
	free(tool->toolbox_id);
	free(tool->name);
	free(tool->spoken);
	buffer_deinit(&tool->function);
}

/* Append the description at @description (JSON_NONE: none), cut. */
static void write_description(
	const struct json_tape *tape, uint32_t description, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	if (description != JSON_NONE)
		json_string_decode(tape, description, &text);
	size = utf8_prefix(buffer_text(&text), text.size, TOOLS_DESCRIPTION_POINTS);
	if (size < text.size) {
		size = utf8_prefix(text.data, text.size, TOOLS_DESCRIPTION_POINTS - 1);
		text.size = size;
		buffer_append_string(&text, "…");
	}
	json_write_buffer(out, &text);
}

/* Append the argument schema at @schema (JSON_NONE: none) as models take it. */
static void write_parameters(const struct json_tape *tape, uint32_t schema, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (schema == JSON_NONE) {
		buffer_append_string(out, "{\"type\":\"object\",\"properties\":{}}");
		return;
	}
	json_write_compact(&text, tape, schema);
	if (buffer_terminate(&text))
		model_schema_write(text.data, out);
	buffer_fail_with(out, &text);
}

/* Append the members of a function after its name. */
static void write_function(const struct json_tape *tape, uint32_t definition, struct buffer *out)
{
	buffer_append_string(out, ",\"description\":");
	write_description(tape, json_find_typed(tape, definition, "description", JSON_STRING), out);
	buffer_append_string(out, ",\"parameters\":");
	write_parameters(tape, json_find_present(tape, definition, "argument_schema"), out);
}

static int read_offered_tool(
	struct offered_tool *tool, const struct json_tape *tape, uint32_t definition)
{
	uint32_t toolbox = json_find_typed(tape, definition, "toolbox_id", JSON_STRING);
	uint32_t name = json_find_typed(tape, definition, "name", JSON_STRING);
	uint32_t spoken = json_find_typed(tape, definition, "spoken", JSON_OBJECT);
	cleanup(buffer_deinit) struct buffer faces = {0};

	*tool = (struct offered_tool){0};
	tool->toolbox_id = json_string_dup(tape, toolbox, NULL);
	tool->name = json_string_dup(tape, name, NULL);
	if (spoken != JSON_NONE) {
		json_write_compact(&faces, tape, spoken);
		tool->spoken = buffer_take(&faces, NULL);
	}
	write_function(tape, definition, &tool->function);
	if (tool->toolbox_id && tool->name && (tool->spoken || spoken == JSON_NONE) &&
		buffer_status(&tool->function) == 0)
		return 0;
	deinit_tool(tool);
	return -ENOMEM;
}

/* Return whether the value at @definition has the names of a tool. */
static bool is_definition(const struct json_tape *tape, uint32_t definition)
{
	return json_type_at(tape, definition) == JSON_OBJECT &&
	       json_find_typed(tape, definition, "toolbox_id", JSON_STRING) != JSON_NONE &&
	       json_find_typed(tape, definition, "name", JSON_STRING) != JSON_NONE;
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static int compare_model_name(const void *a, const void *b)
{
	const struct offered_tool *left = a;
	const struct offered_tool *right = b;

	return strcmp(left->model_name, right->model_name);
}

/* Give each tool its name for the model. */
static int name_tools(struct tools *tools)
{
	struct model_candidate *candidates = calloc(tools->n_items + 1, sizeof(*candidates));
	char(*names)[MODEL_NAME_BYTES] = calloc(tools->n_items + 1, sizeof(*names));
	int r = candidates && names ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < tools->n_items; i++)
		candidates[i] = (struct model_candidate){
			.toolbox_id = tools->items[i].toolbox_id,
			.name = tools->items[i].name,
			.index = i,
		};
	if (r == 0)
		r = model_names_share_same(candidates, tools->n_items);
	for (size_t i = 0; r == 0 && i < tools->n_items; i++)
		candidates[i].is_shared |= strcmp(candidates[i].name, TOOLS_SEARCH) == 0 ||
					   strcmp(candidates[i].name, TOOLS_CALL) == 0;
	if (r == 0)
		r = model_names_write_whole(candidates, tools->n_items, names);
	for (size_t i = 0; r == 0 && i < tools->n_items; i++)
		memcpy(tools->items[i].model_name, names[i], MODEL_NAME_BYTES);
	free(candidates);
	free(names);
	return r;
}

int tools_read(struct tools *tools, const struct json_tape *response)
{
	uint32_t list = json_find_typed_at(response, 0, "tools", JSON_ARRAY);
	int r = 0;

	if (list == JSON_NONE)
		return 0;
	json_each(definition, response, list) {
		if (r < 0 || !is_definition(response, definition))
			continue;
		r = array_grow(tools->items, tools->n_items);
		if (r == 0)
			r = read_offered_tool(&tools->items[tools->n_items], response, definition);
		tools->n_items += r == 0;
	}
	return r == 0 ? name_tools(tools) : r;
}

const struct offered_tool *tools_find(const struct tools *tools, const char *name, size_t size)
{
	struct offered_tool wanted;

	if (size >= MODEL_NAME_BYTES || (size > 0 && memchr(name, '\0', size)) ||
		tools->n_items == 0)
		return NULL;
	memcpy(wanted.model_name, name, size);
	wanted.model_name[size] = '\0';
	return bsearch(
		&wanted, tools->items, tools->n_items, sizeof(*tools->items), compare_model_name);
}

/* Return the tool with the definition at @definition, or NULL. */
static struct offered_tool *find_identity(
	const struct tools *tools, const struct json_tape *tape, uint32_t definition)
{
	uint32_t toolbox = json_find_typed(tape, definition, "toolbox_id", JSON_STRING);
	uint32_t name = json_find_typed(tape, definition, "name", JSON_STRING);

	for (size_t i = 0; i < tools->n_items; i++)
		if (json_is_text(tape, toolbox, tools->items[i].toolbox_id) &&
			json_is_text(tape, name, tools->items[i].name))
			return &tools->items[i];
	return NULL;
}

/* ── the list for the model ──────────────────────────────────────────────────────────────────── */

static void write_offered(const struct offered_tool *tool, struct buffer *out)
{
	if (out->size > 0)
		buffer_append_char(out, ',');
	buffer_append_string(out, "{\"type\":\"function\",\"function\":{\"name\":");
	json_write_text(out, tool->model_name);
	buffer_append_buffer(out, &tool->function);
	buffer_append_string(out, "}}");
}

static void offer_found(struct tools *tools, const struct json_tape *found)
{
	uint32_t list = found ? json_find_typed_at(found, 0, "tools", JSON_ARRAY) : JSON_NONE;
	size_t n = 0;

	buffer_append_string(&tools->json, pair);
	json_each_found(definition, found, list) {
		const struct offered_tool *tool = is_definition(found, definition)
							  ? find_identity(tools, found, definition)
							  : NULL;

		if (tool && n++ < TOOLS_FOUND)
			write_offered(tool, &tools->json);
	}
}

int tools_offer(struct tools *tools, size_t tools_max, const struct json_tape *found)
{
	buffer_reset(&tools->json);
	tools->is_lazy = tools_are_many(tools, tools_max);
	if (tools->is_lazy)
		offer_found(tools, found);
	for (size_t i = 0; i < tools->n_items; i++) {
		if (!tools->is_lazy)
			write_offered(&tools->items[i], &tools->json);
		buffer_deinit(&tools->items[i].function);
	}
	/* From now on tools are only found by their names. */
	if (tools->n_items > 0)
		qsort(tools->items, tools->n_items, sizeof(*tools->items), compare_model_name);
	return buffer_status(&tools->json);
}

static void write_found_tool(const struct tools *tools, const struct json_tape *found,
	uint32_t definition, struct buffer *out)
{
	const struct offered_tool *tool = find_identity(tools, found, definition);
	uint32_t name = json_find_typed(found, definition, "name", JSON_STRING);

	buffer_append_string(out, "{\"name\":");
	if (tool)
		json_write_text(out, tool->model_name);
	else
		json_write_compact(out, found, name);
	write_function(found, definition, out);
	buffer_append_char(out, '}');
}

void tools_write_found(const struct tools *tools, const struct json_tape *found, struct buffer *out)
{
	uint32_t list = json_find_typed_at(found, 0, "tools", JSON_ARRAY);
	size_t n = 0;

	buffer_append_string(out, "{\"tools\":[");
	json_each_found(definition, found, list) {
		if (n == TOOLS_FOUND_MAX || !is_definition(found, definition))
			continue;
		if (n++ > 0)
			buffer_append_char(out, ',');
		write_found_tool(tools, found, definition, out);
	}
	buffer_append_string(out, "]}");
}

void tools_deinit(struct tools *tools)
{
	for (size_t i = 0; i < tools->n_items; i++)
		deinit_tool(&tools->items[i]);
	free(tools->items);
	buffer_deinit(&tools->json);
	*tools = (struct tools){0};
}
