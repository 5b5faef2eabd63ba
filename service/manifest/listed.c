/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/listed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "manifest/entry.h"
#include "manifest/reader.h"
#include "mcp/client/tools/tools.h"
#include "util/text/text.h"
#include "util/text/text_list.h"
#include "util/text/text_view.h"

/* The warnings of one tool; the later ones are counted. */
#define MISTAKES_MAX 3

/* Read the array @key of patterns. 0 or -ENOMEM. */
static int read_patterns(const struct json_tape *tape, const char *key, struct text_list *ret_list)
{
	uint32_t list = json_find(tape, 0, key);
	int r = 0;

	json_each_found_while(r == 0, at, tape, list)
		r = text_list_take(ret_list, json_string_dup(tape, at, NULL));
	return r;
}

/* Read the array @list of @described by the rules of @package. 0 or -ENOMEM. */
static int read_server_list(const struct manifest_reader *reader, const struct json_tape *described,
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
	rules.risk = package->risk == TOOL_UNRATED ? NULL : tool_risk_names[package->risk];
	return mcp_server_tools_read(described, list, &rules, tools);
}

/* Give the last tool of @toolbox the server's name and the pin of @tool. */
static int note_server(const struct mcp_tool *tool, struct toolbox *toolbox)
{
	struct tool *moved = &toolbox->tools[toolbox->n_tools - 1];

	moved->server_name = strdup(tool->server_name);
	moved->pin = malloc(2 * MCP_PIN_BYTES + 1);
	if (!moved->server_name || !moved->pin)
		return -ENOMEM;
	text_write_hex(tool->pin, MCP_PIN_BYTES, moved->pin);
	return 0;
}

/* Warn of the changed texts of @tool: a model reads characters hidden from a person. */
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

/* Warn of what is wrong in the schemas of @tool, and left out of them. */
static void warn_of_mistakes(
	const struct mcp_tool *tool, const struct diagnostics *notes, struct diagnostics *problems)
{
	for (size_t i = 0; i < notes->n_items && i < MISTAKES_MAX; i++)
		diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "",
			"the tool '%s': %s is left out of its schema: %s", tool->server_name,
			notes->items[i].pointer, notes->items[i].text);
	if (notes->n_items > MISTAKES_MAX)
		diagnostics_add(problems, DIAGNOSTIC_WARNING, 0, "",
			"the tool '%s': %zu further mistake%s left out of its schema",
			tool->server_name, notes->n_items - MISTAKES_MAX,
			notes->n_items - MISTAKES_MAX == 1 ? " is" : "s are");
}

/* Add @tool to the toolbox of @package, or leave it out. 0 or a negative errno. */
static int take_tool(struct manifest_reader *reader, struct package *package,
	const struct mcp_tool *tool, struct diagnostics *problems)
{
	struct toolbox *toolbox = package->toolboxes[0];
	cleanup(buffer_deinit) struct buffer reason = {0};
	cleanup(diagnostics_deinit) struct diagnostics notes = {0};
	int r = manifest_add_entry(reader, TEXT_VIEW(tool->entry), toolbox, &notes, &reason);

	if (r == MANIFEST_E_REFUSED)
		return skipped_list_add(&package->left_out, tool->server_name, reason.data);
	warn_of_mistakes(tool, &notes, problems);
	return r ? r : note_server(tool, toolbox);
}

/* Add all @tools. 0, MANIFEST_E_REFUSED, or a negative errno. */
static int take_tools(struct manifest_reader *reader, struct package *package,
	const struct mcp_server_tools *tools, struct diagnostics *problems)
{
	uint64_t end_ns = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < tools->n_items; i++) {
		warn_of_texts(&tools->items[i], problems);
		r = take_tool(reader, package, &tools->items[i], problems);
		if (r == 0 && manifest_entries_are_late(reader, &end_ns)) {
			diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "",
				"reading the tools of its server takes longer than %llu ms: "
				"include fewer of them",
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
	uint32_t reason = json_find_typed_at(described, 0, "reason", JSON_STRING);
	cleanup_free char *text = NULL;
	cleanup(buffer_deinit) struct buffer more = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < tools->n_refusals; i++)
		r = skipped_list_add(
			&package->left_out, tools->refusals[i].name, tools->refusals[i].reason);
	if (r == 0 && tools->n_more > 0) {
		buffer_printf(&more, "%zu further tool%s left out", tools->n_more,
			tools->n_more == 1 ? " is" : "s are");
		r = buffer_terminate(&more) ? skipped_list_add(&package->left_out, NULL, more.data)
					    : -ENOMEM;
	}
	if (r || reason == JSON_NONE)
		return r;
	text = json_string_dup(described, reason, NULL);
	return text ? skipped_list_add(&package->left_out, NULL, text) : -ENOMEM;
}

int manifest_take_listed(struct manifest_reader *reader, const struct json_tape *described,
	const struct mcp_pins *pins, struct package *package, struct diagnostics *problems)
{
	uint32_t list = json_find(described, 0, "list");
	cleanup(mcp_server_tools_deinit) struct mcp_server_tools tools = {0};
	int r;

	if (json_type_at(described, list) != JSON_ARRAY) {
		diagnostics_add(problems, DIAGNOSTIC_ERROR, 0, "", "its host lists no tools");
		return MANIFEST_E_REFUSED;
	}
	package->mcp.is_legacy = json_member_is_true(described, 0, "legacy");
	r = mcp_list_digest(described, list, &package->mcp.list);
	r = r ? r : read_server_list(reader, described, list, pins, package, &tools);
	r = r ? r : note_refusals(package, described, &tools);
	r = r ? r : take_tools(reader, package, &tools, problems);
	if (r == 0 && package->toolboxes[0]->n_tools == 0 && package->left_out.n_items == 0)
		r = skipped_list_add(&package->left_out, NULL, "its server lists no tools");
	return r ? r : package_prepare(package);
}
