/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/listed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "manifest/reader.h"
#include "mcp/client/tools.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/text_list.h"
#include "util/text_view.h"

#define NS_PER_MS UINT64_C(1000000)

/* Read the array @key of patterns. 0 or -ENOMEM. */
static int read_patterns(const struct json_tape *tape, const char *key, struct text_list *ret_list)
{
	uint32_t list = json_find(tape, 0, key);
	int r = 0;

	if (list == JSON_NONE)
		return 0;
	for (uint32_t at = json_first(tape, list); r == 0 && at < json_end(tape, list);
		at = json_next(tape, at))
		r = text_list_take(ret_list, json_string_dup(tape, at, NULL));
	return r;
}

/* Read the array @list of @described by the rules of @package. 0 or -ENOMEM. */
static int read_list(const struct manifest_reader *reader, const struct json_tape *described,
	uint32_t list, const struct mcp_pins *pins, const struct package *package,
	struct mcp_server_tools *tools)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(text_list_deinit) struct text_list include = {0};
	cleanup(text_list_deinit) struct text_list exclude = {0};
	struct mcp_tool_rules rules = {.tape = &tape,
		.pins = pins,
		.tools_max = reader->tools_max,
		.is_http = package->mcp.is_http};
	const char *text = package->mcp.rules;

	if (json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0 ||
		read_patterns(&tape, "include", &include) < 0 ||
		read_patterns(&tape, "exclude", &exclude) < 0)
		return -ENOMEM;
	rules.include = (struct mcp_patterns){(const char *const *)include.items, include.n_items};
	rules.exclude = (struct mcp_patterns){(const char *const *)exclude.items, exclude.n_items};
	rules.settings = json_find(&tape, 0, "tools");
	rules.risk = package->risk == TOOL_UNRATED ? NULL : tool_risk_name(package->risk);
	return mcp_server_tools_read(described, list, &rules, tools);
}

/* Read the entry @entry as the only tool of a manifest, into @ret_toolbox. 0, MANIFEST_E_REFUSED with the problems, or
 * a negative errno. */
static int read_entry(struct manifest_reader *reader, struct package *package,
	struct text_view entry, struct toolbox **ret_toolbox, struct diagnostics *problems)
{
	cleanup(toolbox_cleanup) struct toolbox *toolbox = toolbox_new(package, package->id, NULL);
	struct buffer *bytes = &reader->bytes;
	int r;

	buffer_reset(bytes);
	buffer_append_string(bytes, "{\"kind\":\"plugin\",\"library\":\"-\",\"tools\":[");
	buffer_append(bytes, entry.text, entry.size);
	buffer_append_string(bytes, "]}");
	r = toolbox ? buffer_status(bytes) : -ENOMEM;
	r = r ? r
	      : json_tape_read(&reader->tape, bytes->data, bytes->size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "/tools/0",
			"is nested more than %d levels deep", JSON_DEPTH_DEFAULT - 2);
	r = r ? r : manifest_check_shape(reader, problems);
	r = r ? r
	      : manifest_read_tools(reader, &reader->tape, json_find(&reader->tape, 0, "tools"),
			toolbox, problems);
	if (r < 0)
		return r;
	if (r > 0 || problems->n_errors > 0)
		return MANIFEST_E_REFUSED;
	*ret_toolbox = take_ptr(toolbox);
	return 0;
}

/* Append the entry @text without its output schema. */
static int drop_output(const char *text, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL);

	if (r)
		return r;
	for (uint32_t key = json_first(&tape, 0); key < json_end(&tape, 0);
		key = json_next_key(&tape, key)) {
		if (json_string_equals(&tape, key, "output_schema", strlen("output_schema")))
			continue;
		buffer_append_char(out, out->size > 0 ? ',' : '{');
		json_write_compact(out, &tape, key);
		buffer_append_char(out, ':');
		json_write_compact(out, &tape, key + 1);
	}
	buffer_append_char(out, '}');
	return buffer_status(out);
}

/* Leave @tool out, for the first of @problems. */
static int leave_out(
	struct package *package, const struct mcp_tool *tool, const struct diagnostics *problems)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	const char *pointer = problems->n_items > 0 ? problems->items[0].pointer : "";

	if (strncmp(pointer, "/tools/0", strlen("/tools/0")) == 0)
		pointer += strlen("/tools/0");
	buffer_printf(&reason, "%s%s%s", pointer, *pointer ? ": " : "",
		problems->n_items > 0 ? problems->items[0].text : "it is wrong");
	if (!buffer_terminate(&reason))
		return -ENOMEM;
	return skipped_list_add(&package->left_out, tool->server_name, reason.data);
}

/* Move the tool of @from, which is as the server has @tool, to @toolbox. */
static int move_tool(struct toolbox *from, const struct mcp_tool *tool, struct toolbox *toolbox)
{
	struct tool *moved;

	if (array_grow(toolbox->tools, toolbox->n_tools) < 0)
		return -ENOMEM;
	moved = &toolbox->tools[toolbox->n_tools];
	*moved = from->tools[0];
	moved->toolbox = toolbox;
	moved->index = (uint32_t)toolbox->n_tools++;
	from->n_tools = 0;
	moved->server_name = strdup(tool->server_name);
	moved->pin = malloc(2 * MCP_PIN_BYTES + 1);
	if (!moved->server_name || !moved->pin)
		return -ENOMEM;
	text_write_hex(tool->pin, MCP_PIN_BYTES, moved->pin);
	return 0;
}

/* Warn of the texts of @tool that were changed: a model reads what a person would not see. */
static void warn_of_texts(const struct mcp_tool *tool, struct diagnostics *problems)
{
	if (tool->n_hidden > 0)
		diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "",
			"the tool '%s': %zu character%s that a person does not see %s removed from "
			"its texts; they may hide instructions for a model",
			tool->server_name, tool->n_hidden, tool->n_hidden == 1 ? "" : "s",
			tool->n_hidden == 1 ? "was" : "were");
	if (tool->is_cut)
		diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "",
			"the tool '%s': its description is cut, because it has more than %d bytes",
			tool->server_name, MCP_DESCRIPTION_BYTES);
}

/* Add @tool to the toolbox of @package, without an output schema that is wrong, or leave it out. 0 or a negative
 * errno. */
static int take_tool(
	struct manifest_reader *reader, struct package *package, const struct mcp_tool *tool)
{
	cleanup(toolbox_cleanup) struct toolbox *read = NULL;
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(diagnostics_deinit) struct diagnostics others = {0};
	cleanup(buffer_deinit) struct buffer entry = {0};
	int r = read_entry(reader, package, TEXT_VIEW(tool->entry), &read, &problems);

	if (r == MANIFEST_E_REFUSED) {
		r = drop_output(tool->entry, &entry);
		r = r ? r
		      : read_entry(reader, package, (struct text_view){entry.data, entry.size},
				&read, &others);
	}
	if (r > 0)
		return leave_out(package, tool, &problems);
	return r ? r : move_tool(read, tool, package->toolboxes[0]);
}

/* Add all @tools. 0, MANIFEST_E_REFUSED, or a negative errno. */
static int take_tools(struct manifest_reader *reader, struct package *package,
	const struct mcp_server_tools *tools, struct diagnostics *problems)
{
	uint64_t end_ns = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < tools->n_items; i++) {
		warn_of_texts(&tools->items[i], problems);
		r = take_tool(reader, package, &tools->items[i]);
		if (r == 0 && reader->most_ms &&
			clock_is_up(&end_ns, reader->most_ms * NS_PER_MS)) {
			diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
				"reading the tools of its server takes longer than %llu ms: "
				"include "
				"fewer of them",
				(unsigned long long)reader->most_ms);
			r = MANIFEST_E_REFUSED;
		}
	}
	return r;
}

/* Note what was left out of the list, and why. 0 or -ENOMEM. */
static int note_refusals(struct package *package, const struct json_tape *described,
	const struct mcp_server_tools *tools)
{
	uint32_t reason = json_find(described, 0, "reason");
	cleanup_free char *text = NULL;
	cleanup(buffer_deinit) struct buffer more = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < tools->n_refusals; i++)
		r = skipped_list_add(
			&package->left_out, tools->refusals[i].name, tools->refusals[i].reason);
	if (r == 0 && tools->n_more > 0) {
		buffer_printf(&more, "%zu further tools are left out", tools->n_more);
		r = buffer_terminate(&more) ? skipped_list_add(&package->left_out, NULL, more.data)
					    : -ENOMEM;
	}
	if (r || reason == JSON_NONE || json_type_at(described, reason) != JSON_STRING)
		return r;
	text = json_string_dup(described, reason, NULL);
	return text ? skipped_list_add(&package->left_out, NULL, text) : -ENOMEM;
}

int manifest_take_listed(struct manifest_reader *reader, const struct json_tape *described,
	const struct mcp_pins *pins, struct package *package, struct diagnostics *problems)
{
	uint32_t list = json_find(described, 0, "list");
	uint32_t legacy = json_find(described, 0, "legacy");
	cleanup(mcp_server_tools_deinit) struct mcp_server_tools tools = {0};
	int r;

	if (json_type_at(described, list) != JSON_ARRAY) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "", "its host lists no tools");
		return MANIFEST_E_REFUSED;
	}
	package->mcp.is_legacy = legacy != JSON_NONE && json_is_true(described, legacy);
	r = mcp_list_digest(described, list, &package->mcp.list);
	r = r ? r : read_list(reader, described, list, pins, package, &tools);
	r = r ? r : note_refusals(package, described, &tools);
	r = r ? r : take_tools(reader, package, &tools, problems);
	if (r == 0 && package->toolboxes[0]->n_tools == 0 && package->left_out.n_items == 0)
		r = skipped_list_add(&package->left_out, NULL, "its server lists no tools");
	return r ? r : package_prepare(package);
}
