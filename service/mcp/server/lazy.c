/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/server/lazy.h"

#include <errno.h>
#include <string.h>

#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/stringify.h"
#include "util/text/utf8.h"

static const char *const lazy_names[] = {
	[MCP_SEARCH_TOOLS] = "search_tools",
	[MCP_GET_TOOL] = "get_tool",
	[MCP_CALL_TOOL] = "call_tool",
	NULL,
};

static const char reading[] = ",\"annotations\":{\"readOnlyHint\":true}}";

/* The limits of a search, as texts. */
#define FOUND_MAX     STRINGIFY(MCP_FOUND_MAX)
#define FOUND_DEFAULT STRINGIFY(MCP_FOUND_DEFAULT)

static const char search_schema[] =
	",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\","
	"\"minLength\":1,\"description\":\"What you want to do, in a few words.\"},"
	"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":" FOUND_MAX
	",\"default\":" FOUND_DEFAULT "}},"
	"\"required\":[\"query\"],\"additionalProperties\":false}";

static const char get_text[] =
	"{\"name\":\"get_tool\",\"description\":\"Get the whole definition of a tool that "
	"search_tools has found.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"name\":{"
	"\"type\":\"string\"}},\"required\":[\"name\"],\"additionalProperties\":false}";

static const char call_text[] =
	"{\"name\":\"call_tool\",\"description\":\"Call a tool that search_tools has found.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
	"\"arguments\":{\"type\":\"object\",\"description\":\"The arguments of that tool, by its "
	"inputSchema.\"}},\"required\":[\"name\"],\"additionalProperties\":false}";

/* ── annotations ─────────────────────────────────────────────────────────────────────────────── */

/* The worst effect of a tool, by its annotations (MCP, ToolAnnotations). A tool without any may do
 * anything. */
enum severity {
	READS,
	ADDS,
	CHANGES,
	DOES_ANYTHING,
};

static const char *const annotations[] = {
	[READS] = "\"readOnlyHint\":true",
	[ADDS] = "\"readOnlyHint\":false,\"destructiveHint\":false",
	[CHANGES] = "\"readOnlyHint\":false,\"destructiveHint\":true",
	[DOES_ANYTHING] = "\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true",
};

static enum severity severity_of(const struct text_view *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t hints;
	uint32_t reads;
	uint32_t destroys;

	if (json_tape_read(&tape, text->text, text->size, JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return DOES_ANYTHING;
	hints = json_find_typed_at(&tape, 0, "annotations", JSON_OBJECT);
	reads = json_find_present(&tape, hints, "readOnlyHint");
	destroys = json_find_present(&tape, hints, "destructiveHint");
	if (reads == JSON_NONE || json_find_present(&tape, hints, "openWorldHint") != JSON_NONE)
		return DOES_ANYTHING;
	if (json_is_true(&tape, reads))
		return READS;
	return destroys != JSON_NONE && !json_is_true(&tape, destroys) ? ADDS : CHANGES;
}

static enum severity worst_severity(const struct mcp_tools *tools)
{
	enum severity worst = READS;

	for (size_t i = 0; i < tools->n_items && worst < DOES_ANYTHING; i++) {
		enum severity severity = severity_of(&tools->texts[i]);

		worst = severity > worst ? severity : worst;
	}
	return worst;
}

/* ── the three ───────────────────────────────────────────────────────────────────────────────── */

/* The toolboxes of a list, each once. */
struct toolboxes {
	const char *items[MCP_LAZY_TOOLBOXES_MAX];
	size_t n_items;
	bool has_more;
};

static bool has_toolbox(const struct toolboxes *toolboxes, const char *id)
{
	for (size_t i = 0; i < toolboxes->n_items; i++)
		if (strcmp(toolboxes->items[i], id) == 0)
			return true;
	return false;
}

static void find_toolboxes(const struct mcp_tools *tools, struct toolboxes *toolboxes)
{
	const char *last = "";

	for (size_t i = 0; i < tools->n_items; i++) {
		const char *id = tools->items[i].toolbox_id;

		if (strcmp(id, last) == 0 || has_toolbox(toolboxes, id))
			continue;
		last = id;
		if (toolboxes->n_items < MCP_LAZY_TOOLBOXES_MAX)
			toolboxes->items[toolboxes->n_items++] = id;
		else
			toolboxes->has_more = true;
	}
}

/* Append what search_tools finds, for its model. */
static void write_description(
	const struct mcp_tools *tools, mcp_about_function about, void *data, struct buffer *out)
{
	struct toolboxes toolboxes = {.n_items = 0};

	find_toolboxes(tools, &toolboxes);
	buffer_printf(out,
		"Find the tools for a task among %zu. The answer has the names, descriptions and "
		"arguments of the tools that fit best; then use call_tool. They are for:",
		tools->n_items);
	for (size_t i = 0; i < toolboxes.n_items; i++) {
		const char *line = about(data, toolboxes.items[i]);
		size_t size = line ? strcspn(line, "\n") : 0;

		buffer_printf(out, "\n%s", toolboxes.items[i]);
		if (size > 0)
			buffer_printf(out, ": %.*s",
				(int)utf8_prefix(line, size, MCP_LAZY_LINE_POINTS), line);
	}
	if (toolboxes.has_more)
		buffer_append_string(out, "\nand others");
}

int mcp_lazy_make(struct mcp_tools *tools, mcp_about_function about, void *data)
{
	struct buffer *out = &tools->lazy_text;
	cleanup(buffer_deinit) struct buffer description = {0};
	size_t starts[MCP_LAZY_TOOLS + 1] = {0};

	buffer_reset(out);
	write_description(tools, about, data, &description);
	buffer_append_string(out, "{\"name\":\"search_tools\",\"description\":");
	json_write_bytes_lossy(out, buffer_text(&description), description.size);
	buffer_append_string(out, search_schema);
	buffer_append_string(out, reading);
	starts[MCP_GET_TOOL] = out->size;
	buffer_append_string(out, get_text);
	buffer_append_string(out, reading);
	starts[MCP_CALL_TOOL] = out->size;
	buffer_append_string(out, call_text);
	buffer_printf(out, ",\"annotations\":{%s}}", annotations[worst_severity(tools)]);
	starts[MCP_LAZY_TOOLS] = out->size;
	buffer_fail_with(out, &description);
	if (buffer_status(out) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < MCP_LAZY_TOOLS; i++)
		tools->lazy[i] =
			(struct text_view){out->data + starts[i], starts[i + 1] - starts[i]};
	tools->is_lazy = true;
	return 0;
}

int mcp_lazy_find(const struct json_tape *tape, uint32_t name)
{
	return json_word_at(tape, name, lazy_names);
}

/* ── search_tools ────────────────────────────────────────────────────────────────────────────── */

/* Append the name of the Tool at @object in the list. The service takes the given name, too, where
 * a whole name would be too long. */
static void write_listed_name(const struct json_tape *tape, uint32_t object,
	enum mcp_lazy_names names, struct buffer *out)
{
	uint32_t meta = json_find_typed(tape, object, "_meta", JSON_OBJECT);
	uint32_t source = json_find_typed(tape, meta, "toolboxd/source", JSON_OBJECT);
	uint32_t toolbox = json_find_typed(tape, source, "toolbox", JSON_STRING);
	uint32_t own = json_find_typed(tape, meta, "toolboxd/name", JSON_STRING);
	uint32_t given = json_find_typed(tape, object, "name", JSON_STRING);
	cleanup(buffer_deinit) struct buffer name = {0};

	if (names == MCP_NAMES_WHOLE && toolbox != JSON_NONE) {
		json_string_decode(tape, toolbox, &name);
		buffer_append_string(&name, "__");
	}
	json_read_text(tape, own, &name);
	if (given != JSON_NONE && (names == MCP_NAMES_GIVEN || name.size > MCP_NAME_BYTES)) {
		buffer_reset(&name);
		json_string_decode(tape, given, &name);
	}
	json_write_buffer(out, &name);
}

/* Append the members of the Tool at @object that a call needs. */
static void write_found(const struct json_tape *tape, uint32_t object, enum mcp_lazy_names names,
	struct buffer *out)
{
	static const char *const keys[] = {"description", "inputSchema"};

	buffer_append_string(out, "{\"name\":");
	write_listed_name(tape, object, names, out);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t value = json_find(tape, object, keys[i]);

		if (value == JSON_NONE)
			continue;
		buffer_printf(out, ",\"%s\":", keys[i]);
		json_write_compact(out, tape, value);
	}
	buffer_append_char(out, '}');
}

void mcp_lazy_write_found(
	const struct json_tape *found, const struct mcp_lazy_search *search, struct buffer *out)
{
	uint32_t list = json_find_typed_at(found, 0, "tools", JSON_ARRAY);
	uint32_t end = list == JSON_NONE ? 0 : json_end(found, list);
	size_t n = 0;

	buffer_append_string(out, "{\"tools\":[");
	for (uint32_t i = list + 1; i < end && n < search->limit; i = json_next(found, i)) {
		if (json_type_at(found, i) != JSON_OBJECT ||
			(search->serves && !search->serves(search->data, found, i)))
			continue;
		buffer_append_string(out, n++ > 0 ? "," : "");
		write_found(found, i, search->names, out);
	}
	buffer_append_string(out, "]}");
}
