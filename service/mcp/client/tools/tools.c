/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/tools/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "mcp/client/headers.h"
#include "mcp/client/tools/hidden.h"
#include "mcp/client/tools/risk.h"
#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/stringify.h"
#include "util/text/glob.h"
#include "util/text/utf8.h"

#define TITLE_BYTES 256 /* the longest title of an entry; a longer one is left out */

#define SERVER_NAME_BYTES 1024 /* the longest name of a server */

/* An element of the list that has a name. */
struct element {
	uint32_t token;
	char *server_name; /* owned, until it is the tool's */
	size_t size;
	char name[MCP_TOOL_NAME_BYTES + 1];
	bool is_taken;       /* our name is the name of another one at the server */
	const char *refusal; /* NULL: it is not refused yet */
};

struct elements {
	struct element *items;
	size_t n_items;
};

static void elements_deinit(struct elements *elements)
{
	for (size_t i = 0; i < elements->n_items; i++)
		free(elements->items[i].server_name);
	free(elements->items);
}

/* ── refusals ────────────────────────────────────────────────────────────────────────────────── */

/* Add a refusal. @name: NULL, as in struct mcp_refusal. */
static int add_refusal(struct mcp_server_tools *tools, const char *name, const char *reason)
{
	struct mcp_refusal refusal = {0};

	if (array_grow(tools->refusals, tools->n_refusals) < 0)
		return -ENOMEM;
	refusal.name = name ? strdup(name) : NULL;
	refusal.reason = strdup(reason);
	if ((name && !refusal.name) || !refusal.reason) {
		free(refusal.name);
		free(refusal.reason);
		return -ENOMEM;
	}
	tools->refusals[tools->n_refusals++] = refusal;
	return 0;
}

/* As add_refusal(), but many later refusals are only counted. */
static int refuse_tool(struct mcp_server_tools *tools, const char *name, const char *reason)
{
	if (tools->n_refusals < MCP_REFUSALS_MAX)
		return add_refusal(tools, name, reason);
	tools->n_more++;
	return 0;
}

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

/* Read the element at @token into the end of @elements, or refuse it. */
static int read_element(const struct json_tape *tape, uint32_t token, struct elements *elements,
	struct mcp_server_tools *tools)
{
	struct element element = {.token = token};
	cleanup_free char *name = NULL;
	uint32_t found = JSON_NONE;

	if (json_type_at(tape, token) == JSON_OBJECT)
		found = json_find_typed(tape, token, "name", JSON_STRING);
	if (found == JSON_NONE || json_at(tape, found)->length == 0)
		return refuse_tool(tools, NULL, "a tool has no name");
	if (json_at(tape, found)->length > SERVER_NAME_BYTES)
		return refuse_tool(tools, NULL,
			"a tool has a name of more than " STRINGIFY(SERVER_NAME_BYTES) " bytes");
	name = json_string_dup(tape, found, &element.size);
	if (!name)
		return -ENOMEM;
	if (strlen(name) != element.size)
		return refuse_tool(tools, NULL, "a tool has a name with U+0000");
	mcp_map_tool_name(name, element.size, element.name);
	if (array_grow(elements->items, elements->n_items) < 0)
		return -ENOMEM;
	element.server_name = take_ptr(name);
	elements->items[elements->n_items++] = element;
	return 0;
}

static int read_elements(const struct json_tape *tape, uint32_t array, struct elements *elements,
	struct mcp_server_tools *tools)
{
	size_t n = 0;
	int r = 0;

	json_each_while(r == 0, at, tape, array) {
		if (n++ == MCP_ELEMENTS_MAX)
			return add_refusal(tools, NULL,
				"the tools after the first " STRINGIFY(
					MCP_ELEMENTS_MAX) " are not looked at");
		r = read_element(tape, at, elements, tools);
	}
	return r;
}

/* By our name, then by the place in the list. */
static int compare_elements(const void *a, const void *b)
{
	const struct element *left = *(const struct element *const *)a;
	const struct element *right = *(const struct element *const *)b;
	int order = strcmp(left->name, right->name);

	return order != 0 ? order : (left > right) - (left < right);
}

/* ── the operator's choice ───────────────────────────────────────────────────────────────────── */

static bool is_element_named(const struct element *element, const char *name, size_t size)
{
	return glob_matches(name, size, element->server_name, element->size) ||
	       (!element->is_taken &&
		       glob_matches(name, size, element->name, strlen(element->name)));
}

static bool is_among(const struct element *element, const struct mcp_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n_items; i++)
		if (is_element_named(element, patterns->items[i], strlen(patterns->items[i])))
			return true;
	return false;
}

static bool is_included(const struct element *element, const struct mcp_tool_rules *rules)
{
	return (rules->include.n_items == 0 || is_among(element, &rules->include)) &&
	       !is_among(element, &rules->exclude);
}

/* Return the settings of @element, or JSON_NONE. */
static uint32_t find_settings(const struct element *element, const struct mcp_tool_rules *rules)
{
	uint32_t found = JSON_NONE;

	if (rules->settings == JSON_NONE)
		return JSON_NONE;
	found = json_find_sized(rules->tape, rules->settings, element->server_name, element->size);
	if (found == JSON_NONE && !element->is_taken)
		found = json_find(rules->tape, rules->settings, element->name);
	return found != JSON_NONE && json_type_at(rules->tape, found) == JSON_OBJECT ? found
										     : JSON_NONE;
}

/* Let elements with the same of our names know each other: [first, end) of @sorted. */
static void judge_clash(
	struct element **sorted, size_t first, size_t end, const struct mcp_tool_rules *rules)
{
	struct element *exact = NULL;
	bool is_found = false;

	for (size_t i = first; i < end && !exact; i++)
		if (strcmp(sorted[i]->server_name, sorted[i]->name) == 0)
			exact = sorted[i];
	for (size_t i = first; i < end; i++) {
		sorted[i]->is_taken = exact && sorted[i] != exact;
		if (!is_included(sorted[i], rules))
			sorted[i]->refusal = "it is not included";
		else if (is_found)
			sorted[i]->refusal = "an earlier tool of the server has the same name here";
		else
			is_found = true;
	}
}

/* Refuse the elements that are not included, and those with the name of an earlier one. */
static int judge_names(struct elements *elements, const struct mcp_tool_rules *rules)
{
	cleanup_free struct element **sorted = calloc(elements->n_items + 1, sizeof(*sorted));
	size_t first = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < elements->n_items; i++)
		sorted[i] = &elements->items[i];
	qsort(sorted, elements->n_items, sizeof(*sorted), compare_elements);
	for (size_t i = 1; i <= elements->n_items; i++) {
		if (i < elements->n_items && strcmp(sorted[i]->name, sorted[first]->name) == 0)
			continue;
		judge_clash(sorted, first, i, rules);
		first = i;
	}
	return 0;
}

/* ── texts and schemas ───────────────────────────────────────────────────────────────────────── */

/* Cut the blanks and line ends off both ends of @text. */
static void trim_blanks(struct buffer *text)
{
	size_t first = 0;

	while (text->size > 0 && strchr(" \t\r\n", text->data[text->size - 1]))
		text->size--;
	while (first < text->size && strchr(" \t\r\n", text->data[first]))
		first++;
	if (first > 0)
		memmove(text->data, text->data + first, text->size - first);
	text->size -= first;
}

/* Return the description or title at @token without hidden characters, cut, and owned by the
 * caller; NULL without memory. */
static char *read_tool_text(const struct json_tape *tape, uint32_t token, struct mcp_tool *tool)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer stripped = {0};

	json_string_decode(tape, token, &text);
	tool->n_hidden += mcp_strip_hidden(&stripped, text.data, text.size);
	buffer_fail_with(&stripped, &text);
	trim_blanks(&stripped);
	if (stripped.size > MCP_DESCRIPTION_BYTES) {
		stripped.size = utf8_cut(stripped.data, stripped.size, MCP_DESCRIPTION_BYTES);
		tool->is_cut = true;
	}
	return buffer_take(&stripped, NULL);
}

/* Return whether the `$schema` at @token names a language that is known. */
static bool is_known_language(const struct json_tape *tape, uint32_t token)
{
	static const char *const languages[] = {"https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft/2020-12/schema#",
		"http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft-07/schema#", NULL};

	return json_word_at(tape, token, languages) >= 0;
}

static void write_schema(struct buffer *out, const struct json_tape *tape, uint32_t schema,
	const char *key, struct mcp_tool *tool)
{
	uint32_t language = json_find(tape, schema, "$schema");
	bool is_omitted = language != JSON_NONE && !is_known_language(tape, language);

	buffer_printf(out, ",\"%s\":", key);
	tool->n_hidden +=
		mcp_strip_schema(out, tape, schema, is_omitted ? language - 1 : JSON_NONE);
}

/* Return the reason for which the input schema of the tool at @object cannot be used, or NULL. */
static const char *judge_schema(const struct json_tape *tape, uint32_t object, bool is_http)
{
	uint32_t schema = json_find_typed(tape, object, "inputSchema", JSON_OBJECT);
	uint32_t type;

	if (schema == JSON_NONE)
		return "its inputSchema is not an object";
	type = json_find_typed(tape, schema, "type", JSON_STRING);
	if (type != JSON_NONE && !json_is_text(tape, type, "object"))
		return "its inputSchema does not describe an object";
	return is_http ? mcp_judge_param_headers(tape, schema) : NULL;
}

/* Refuse @element if its schemas have hidden characters where they cannot be removed. Return 0 or
 * -ENOMEM. */
static int judge_hidden(const struct json_tape *tape, struct element *element)
{
	static const char *const keys[] = {"inputSchema", "outputSchema"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t schema = json_find_typed(tape, element->token, keys[i], JSON_OBJECT);
		bool has_hidden = false;
		int r = schema == JSON_NONE ? 0 : mcp_find_hidden(tape, schema, &has_hidden);

		if (r < 0)
			return r;
		if (has_hidden)
			element->refusal = "its schema has characters that people do not see, in a "
					   "name, a value or a pattern";
	}
	return 0;
}

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

/* Append the setting @key, or else @value (NULL: nothing). */
static void write_setting(struct buffer *out, const struct mcp_tool_rules *rules, uint32_t settings,
	const char *key, const char *value)
{
	uint32_t setting =
		settings == JSON_NONE ? JSON_NONE : json_find(rules->tape, settings, key);

	if (setting != JSON_NONE) {
		buffer_printf(out, ",\"%s\":", key);
		json_write_compact(out, rules->tape, setting);
	} else if (value) {
		json_write_member_text(out, key, value);
	}
}

/* Return the risk of @tool, which is at @object, without a setting for it alone. */
static const char *choose_risk(const struct json_tape *tape, uint32_t object,
	const struct mcp_tool_rules *rules, const struct mcp_tool *tool)
{
	if (rules->risk)
		return rules->risk;
	return rules->pins ? mcp_pins_risk(rules->pins, tape, object, tool->server_name)
			   : mcp_admitted_risk(tape, object);
}

/* Append the hints of the server about repetition and loss, for programs that show them to
 * people. */
static void write_hints(struct buffer *out, const struct json_tape *tape, uint32_t object)
{
	uint32_t annotations = json_find_typed(tape, object, "annotations", JSON_OBJECT);

	if (json_find_typed(tape, annotations, "destructiveHint", JSON_FALSE) != JSON_NONE)
		buffer_append_string(out, ",\"destructive\":false");
	if (json_find_typed(tape, annotations, "idempotentHint", JSON_TRUE) != JSON_NONE)
		buffer_append_string(out, ",\"idempotent\":true");
}

/* Append the entry of the tool at @object. @risk: the risk of a tool without a setting. */
static void write_entry(struct buffer *out, const struct json_tape *tape, uint32_t object,
	const char *description, const char *risk, const struct mcp_tool_rules *rules,
	uint32_t settings, struct mcp_tool *tool)
{
	static const char *const others[] = {
		"cooldown_s", "parallel", "run_llm", "task", "timeout_ms", "triggers"};
	uint32_t output = json_find_typed(tape, object, "outputSchema", JSON_OBJECT);

	buffer_append_char(out, '{');
	json_write_member_text(out, "name", tool->name);
	if (tool->title && *tool->title && strlen(tool->title) <= TITLE_BYTES)
		json_write_member_text(out, "title", tool->title);
	write_setting(out, rules, settings, "description", description);
	write_schema(out, tape, json_find_typed(tape, object, "inputSchema", JSON_OBJECT),
		"argument_schema", tool);
	if (output != JSON_NONE)
		write_schema(out, tape, output, "output_schema", tool);
	write_setting(out, rules, settings, "risk", risk);
	/* Hints come with the annotations: a risk that is not believed has none. */
	if (rules->risk || strcmp(risk, mcp_admitted_risk(tape, object)) == 0)
		write_hints(out, tape, object);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		write_setting(out, rules, settings, others[i], NULL);
	buffer_append_char(out, '}');
}

static void tool_deinit(struct mcp_tool *tool)
{
	free(tool->server_name);
	free(tool->entry);
	free(tool->title);
}

/* Read the tool of @element into the zeroed @tool, which the caller deinits. */
static int read_tool(const struct json_tape *tape, struct element *element,
	const struct mcp_tool_rules *rules, struct mcp_tool *tool)
{
	uint32_t object = element->token;
	uint32_t description = json_find_typed(tape, object, "description", JSON_STRING);
	uint32_t title = json_find_typed(tape, object, "title", JSON_STRING);
	uint32_t settings = find_settings(element, rules);
	cleanup_free char *text = NULL;
	cleanup(buffer_deinit) struct buffer entry = {0};
	const char *risk;

	if (title == JSON_NONE)
		title = json_find_typed(tape,
			json_find_typed(tape, object, "annotations", JSON_OBJECT), "title",
			JSON_STRING);
	memcpy(tool->name, element->name, sizeof(tool->name));
	if (description != JSON_NONE && !(text = read_tool_text(tape, description, tool)))
		return -ENOMEM;
	if (title != JSON_NONE && !(tool->title = read_tool_text(tape, title, tool)))
		return -ENOMEM;
	tool->server_name = take_ptr(element->server_name);
	risk = choose_risk(tape, object, rules, tool);
	write_entry(&entry, tape, object, text ? text : "", risk, rules, settings, tool);
	tool->entry = buffer_take(&entry, NULL);
	return tool->entry ? mcp_pin(tape, object, tool->pin) : -ENOMEM;
}

static int add_tool(const struct json_tape *tape, struct element *element,
	const struct mcp_tool_rules *rules, struct mcp_server_tools *tools)
{
	struct mcp_tool tool = {.n_hidden = 0};
	int r = array_grow(tools->items, tools->n_items);

	if (r == 0)
		r = read_tool(tape, element, rules, &tool);
	if (r < 0) {
		tool_deinit(&tool);
		return r;
	}
	tools->items[tools->n_items++] = tool;
	return 0;
}

/* Add the tools of @elements, or refuse them. */
static int add_tools(const struct json_tape *tape, struct elements *elements,
	const struct mcp_tool_rules *rules, struct mcp_server_tools *tools)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	size_t n_over = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < elements->n_items; i++) {
		struct element *element = &elements->items[i];

		if (!element->refusal)
			element->refusal = judge_schema(tape, element->token, rules->is_http);
		if (!element->refusal)
			r = judge_hidden(tape, element);
		if (r < 0)
			break;
		if (element->refusal)
			r = refuse_tool(tools, element->server_name, element->refusal);
		else if (tools->n_items == rules->tools_max)
			n_over++;
		else
			r = add_tool(tape, element, rules, tools);
	}
	if (r < 0 || n_over == 0)
		return r;
	buffer_printf(&reason, "%zu tool%s more than the %zu that are allowed", n_over,
		n_over == 1 ? " is" : "s are", rules->tools_max);
	return buffer_terminate(&reason) ? add_refusal(tools, NULL, reason.data) : -ENOMEM;
}

int mcp_server_tools_read(const struct json_tape *tape, uint32_t array,
	const struct mcp_tool_rules *rules, struct mcp_server_tools *ret_tools)
{
	cleanup(elements_deinit) struct elements elements = {0};
	int r = read_elements(tape, array, &elements, ret_tools);

	if (r == 0)
		r = judge_names(&elements, rules);
	if (r == 0)
		r = add_tools(tape, &elements, rules, ret_tools);
	return r;
}

void mcp_server_tools_deinit(struct mcp_server_tools *tools)
{
	for (size_t i = 0; i < tools->n_items; i++)
		tool_deinit(&tools->items[i]);
	for (size_t i = 0; i < tools->n_refusals; i++) {
		free(tools->refusals[i].name);
		free(tools->refusals[i].reason);
	}
	free(tools->items);
	free(tools->refusals);
	*tools = (struct mcp_server_tools){0};
}
