/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/list/narrow.h"
#include "ctl/list/saving.h"
#include "ctl/offline/listed.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/status/ask.h"
#include "ctl/status/reasons.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "ctl/tool/signature.h"
#include "ctl/tool_names.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/utf8.h"

/* toolboxctl list: the tools that are offered, or would be offered. */

/* A token of a model is about four characters of English or JSON. */
#define CHARACTERS_PER_TOKEN 4

/* Add the cell of the risk: a tool whose definition has none is unrated. */
static void add_risk(struct table *table, const struct ctl_response *response, uint32_t tool)
{
	if (json_find(&response->tape, tool, "risk") != JSON_NONE)
		table_add_member(table, &response->tape, tool, "risk");
	else
		table_add(table, tool_risk_names[TOOL_UNRATED]);
}

/* Add the cell of the kind, from the source of a tool. */
static void add_kind(struct table *table, const struct ctl_response *response, uint32_t tool)
{
	uint32_t source = ctl_response_find(response, tool, "source", JSON_OBJECT);

	if (source != JSON_NONE)
		table_add_member(table, &response->tape, source, "kind");
	else
		table_next(table);
}

/* Return whether calls of the toolbox of @tool are refused until a reload. */
static bool is_quarantined(const struct ctl_response *response, uint32_t tool)
{
	uint32_t ids = ctl_response_find(response, 0, "quarantined", JSON_ARRAY);
	uint32_t id = ctl_response_find(response, tool, "toolbox_id", JSON_STRING);

	return id != JSON_NONE && json_has_string(&response->tape, ids, id);
}

static void add_toolbox_id(struct table *table, const struct ctl_response *response, uint32_t tool)
{
	terminal_append_member(table_cell(table), &response->tape, tool, "toolbox_id");
	if (is_quarantined(response, tool))
		buffer_append_string(table_cell(table), " (quarantined)");
	table_next(table);
}

static void print_tools(const struct ctl_response *response, uint32_t tools)
{
	static const struct table_column columns[] = {{"TOOLBOX", false}, {"TOOL", false},
		{"KIND", false}, {"RISK", false}, {"DESCRIPTION", false}};
	const struct json_tape *tape = &response->tape;
	cleanup(table_deinit) struct table table = TABLE(columns);

	json_each(i, tape, tools) {
		add_toolbox_id(&table, response, i);
		table_add_member(&table, &response->tape, i, "name");
		add_kind(&table, response, i);
		add_risk(&table, response, i);
		terminal_append_member_words(table_cell(&table), tape, i, "description");
		table_next(&table);
	}
	table_print(&table);
}

/* Print each tool with parameters and description, below the name of its toolbox. */
static void print_long(const struct ctl_response *response, uint32_t tools)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer out = {0};
	uint32_t last = JSON_NONE; /* the toolbox of the tool before */

	json_each(i, tape, tools) {
		uint32_t id = ctl_response_find(response, i, "toolbox_id", JSON_STRING);
		cleanup(buffer_deinit) struct buffer signature = {0};
		cleanup(buffer_deinit) struct buffer description = {0};

		if (id != JSON_NONE &&
			(last == JSON_NONE || !json_strings_equal(tape, id, tape, last))) {
			buffer_append_string(&out, last != JSON_NONE ? "\n" : "");
			buffer_append_string(&out, terminal_bold());
			terminal_append_value(&out, tape, id);
			buffer_append_string(&out, terminal_plain());
			buffer_append_char(&out, '\n');
			last = id;
		}
		tool_signature_append(tape, i, &signature);
		terminal_append_member_words(&description, tape, i, "description");
		terminal_append_paragraph(&out, &signature, 2, 6);
		terminal_append_paragraph(&out, &description, 6, 6);
	}
	terminal_print(&out);
}

/* Print the lines of the member `text`, without what a terminal would obey. */
static void print_text(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	json_string_decode(
		&response->tape, ctl_response_find(response, 0, "text", JSON_STRING), &text);
	for (size_t at = 0; at < text.size;) {
		const char *end = memchr(text.data + at, '\n', text.size - at);
		size_t size = end ? (size_t)(end - text.data) - at : text.size - at;

		terminal_append_line(&out, text.data + at, size);
		buffer_append_char(&out, '\n');
		at += size + 1;
	}
	terminal_print(&out);
}

static void print_list(const struct ctl_options *options, const struct ctl_response *response)
{
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);

	if (options->json)
		ctl_response_print(response);
	else if (ctl_response_find(response, 0, "text", JSON_STRING) != JSON_NONE)
		print_text(response);
	else if (options->format)
		terminal_print_json(&response->tape, 0);
	else if (options->is_long && tools != JSON_NONE && json_count(&response->tape, tools) > 0)
		print_long(response, tools);
	else if (tools != JSON_NONE && json_count(&response->tape, tools) > 0)
		print_tools(response, tools);
	else if (options->profile)
		terminal_complain("there is no profile '%s', or it has no tool that is offered",
			options->profile);
	else
		terminal_complain("no tool is offered%s",
			options->why ? "" : "; add --why to see what was found, and why");
}

static int check_options(const struct ctl_options *options)
{
	for (size_t i = 1; i < options->n_positional; i++) {
		int r = tool_names_check(options->positional[i]);

		if (r != 0)
			return r;
	}
	if (options->n_positional > 1 && (options->format || options->stat))
		terminal_complain("NAME goes without --format and --stat: use --toolbox");
	else if (options->toolbox_dir && !options->offline)
		terminal_complain("--toolbox-dir goes with --offline: a daemon has its own");
	else if (options->offline && options->profile)
		terminal_complain("--profile needs the daemon: leave out --offline");
	else if (options->stat && (options->offline || options->why || options->json))
		terminal_complain("--stat needs the daemon, and goes with --toolbox, --profile and "
				  "--format only");
	else if (options->is_long && (options->format || options->stat || options->json))
		terminal_complain("--long prints text for people: leave out --format, --stat and "
				  "--json");
	else if (options->json && options->why && !options->offline)
		terminal_complain(
			"--why prints text only: for JSON, use `toolboxctl status --json`");
	else
		return 0;
	return CTL_USAGE;
}

/* Leave only the tools that the command line names. Return 0, or an enum ctl_status after a
 * complaint. */
static int narrow(const struct ctl_options *options, struct ctl_response *response)
{
	return narrow_to_names(
		response, (const char *const *)options->positional + 1, options->n_positional - 1);
}

/* Return whether @response lists no tool. */
static bool is_empty(const struct ctl_response *response)
{
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	uint32_t text = ctl_response_find(response, 0, "text", JSON_STRING);

	return tools != JSON_NONE
		       ? json_count(&response->tape, tools) == 0
		       : text == JSON_NONE || json_at(&response->tape, text)->length == 0;
}

/* ── with a daemon ───────────────────────────────────────────────────────────────────────────── */

/* Ask for the list of the toolbox @toolbox_id in @format; both may be NULL. Return 0, or an enum
 * ctl_status after a complaint. */
static int ask_list(struct ctl_session *session, const struct ctl_options *options,
	const char *toolbox_id, const char *format, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "toolbox_id", toolbox_id);
	ctl_request_member(&data, "profile", options->profile);
	ctl_request_member(&data, "format", format);
	return ctl_session_ask(session, "ovos.tools.list", &data, ret_response);
}

static void add_number(struct table *table, size_t number)
{
	buffer_printf(table_cell(table), "%zu", number);
	table_next(table);
}

static void add_row(struct table *table, const char *name, size_t n_tools, size_t n_characters)
{
	table_add(table, name);
	add_number(table, n_tools);
	add_number(table, n_characters);
	add_number(table, n_characters / CHARACTERS_PER_TOKEN);
}

/* Return the characters of the list in @response, as JSON or as text. */
static size_t count_characters(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	size_t size;
	const char *list;

	if (json_read_text(&response->tape, json_find(&response->tape, 0, "text"), &text))
		return utf8_count(buffer_text(&text), text.size);
	if (tools == JSON_NONE)
		return 0;
	list = json_value_text(&response->tape, tools, &size);
	return utf8_count(list, size);
}

/* Add the row of the toolbox whose tools begin at @tool of the full list, and its figures to *sum.
 * Return 0, or an enum ctl_status after a complaint. */
static int add_toolbox(struct ctl_session *session, const struct ctl_options *options,
	const char *id, size_t n_tools, struct table *table, size_t *sum)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_response_judge(
		ask_list(session, options, id, options->format, &response), &response);
	size_t n_characters;

	if (r != 0)
		return r;
	n_characters = count_characters(&response);
	add_row(table, id, n_tools, n_characters);
	*sum += n_characters;
	return 0;
}

/* Print what a model's context would take of each toolbox. @response is the full list. */
static int print_stat(struct ctl_session *session, const struct ctl_options *options,
	const struct ctl_response *response)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"TOOLS", true}, {"CHARACTERS", true}, {"TOKENS", true}};
	const struct json_tape *tape = &response->tape;
	cleanup(table_deinit) struct table table = TABLE(columns);
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	size_t sum = 0;
	size_t n_all = 0;
	int r = 0;

	for (uint32_t i = json_first(tape, tools); r == 0 && i < json_end(tape, tools);) {
		cleanup_free char *id = json_find_dup(tape, i, "toolbox_id");
		size_t n_tools = 0;

		if (!id)
			return CTL_ERROR;
		for (; i < json_end(tape, tools); i = json_next(tape, i), n_tools++) {
			uint32_t other = ctl_response_find(response, i, "toolbox_id", JSON_STRING);

			if (!json_is_text(tape, other, id))
				break;
		}
		n_all += n_tools;
		r = add_toolbox(session, options, id, n_tools, &table, &sum);
	}
	if (r == 0) {
		add_row(&table, "sum", n_all, sum);
		table_print(&table);
		r = saving_print(session, options);
	}
	return r;
}

/* Return whether the tools at @left of @mine and at @right of @all are the same. */
static bool is_same_tool(
	const struct json_tape *mine, uint32_t left, const struct json_tape *all, uint32_t right)
{
	static const char *const keys[] = {"toolbox_id", "name"};
	bool is_same = true;

	for (size_t i = 0; is_same && i < ARRAY_SIZE(keys); i++) {
		uint32_t first = json_find_typed(mine, left, keys[i], JSON_STRING);
		uint32_t second = json_find_typed(all, right, keys[i], JSON_STRING);

		is_same = first != JSON_NONE && second != JSON_NONE &&
			  json_strings_equal(mine, first, all, second);
	}
	return is_same;
}

/* Append to @out the entries of `not_offered` for the tools of @all that @mine, a part of it in the
 * same order, lacks. */
static void write_hidden(const struct ctl_response *mine, const struct ctl_response *all,
	const char *profile, struct buffer *out)
{
	uint32_t shown = ctl_response_find(mine, 0, "tools", JSON_ARRAY);
	uint32_t tools = ctl_response_find(all, 0, "tools", JSON_ARRAY);
	uint32_t next = shown == JSON_NONE ? 0 : json_first(&mine->tape, shown);
	uint32_t end = shown == JSON_NONE ? 0 : json_end(&mine->tape, shown);
	cleanup(buffer_deinit) struct buffer why = {0};

	buffer_printf(&why, "left out by the profile '%s'", profile);
	json_each_found(at, &all->tape, tools) {
		uint32_t id = ctl_response_find(all, at, "toolbox_id", JSON_STRING);
		uint32_t name = ctl_response_find(all, at, "name", JSON_STRING);

		if (next < end && is_same_tool(&mine->tape, next, &all->tape, at)) {
			next = json_next(&mine->tape, next);
			continue;
		}
		if (id == JSON_NONE || name == JSON_NONE)
			continue;
		buffer_append_string(out, out->size > 0 ? ",{\"toolbox_id\":" : "{\"toolbox_id\":");
		json_write_compact(out, &all->tape, id);
		json_write_member_value(out, "name", &all->tape, name);
		buffer_append_string(out, ",\"why\":");
		json_write_string(out, why.data, why.size);
		buffer_append_char(out, '}');
	}
	buffer_fail_with(out, &why);
}

/* Print the tools that the profile of @options leaves out. */
static int print_hidden(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response mine = {0};
	cleanup(ctl_response_deinit) struct ctl_response all = {0};
	cleanup(ctl_response_deinit) struct ctl_response hidden = {0};
	cleanup(buffer_deinit) struct buffer entries = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct ctl_options everything = *options;
	int r = ask_list(session, options, options->toolbox_id, NULL, &mine);

	everything.profile = NULL;
	r = r ? r : ask_list(session, &everything, options->toolbox_id, NULL, &all);
	if (r != 0)
		return r;
	write_hidden(&mine, &all, options->profile, &entries);
	buffer_append_string(&hidden.text, "{\"not_offered\":[");
	buffer_append_buffer(&hidden.text, &entries);
	buffer_append_string(&hidden.text, "]}");
	r = buffer_status(&hidden.text);
	r = r ? r : buffer_status(&entries);
	if (r == 0)
		r = json_tape_read(&hidden.tape, hidden.text.data, hidden.text.size,
			2 * JSON_DEPTH_DEFAULT, NULL);
	if (r != 0) {
		terminal_complain("%s", strerror(ENOMEM));
		return CTL_ERROR;
	}
	reasons_append_not_offered(&hidden, &out);
	terminal_print(&out);
	return CTL_DONE;
}

static int list_online(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_session_open(options, &session);

	if (r == 0)
		r = ask_list(session, options, options->toolbox_id,
			options->stat ? NULL : options->format, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (r != CTL_DONE && !options->json) {
		ctl_response_complain(&response);
		return r;
	}
	if (r == CTL_DONE && options->toolbox_id && is_empty(&response))
		r = status_expect_toolbox(session, options->toolbox_id);
	if (r == CTL_DONE)
		r = narrow(options, &response);
	if (r == CTL_DONE && options->stat)
		return print_stat(session, options, &response);
	if (r != CTL_DONE && !options->json)
		return r;
	print_list(options, &response);
	if (r == CTL_DONE && options->why && options->profile)
		r = print_hidden(session, options);
	return r == CTL_DONE && options->why ? reasons_ask(session, options->toolbox_id) : r;
}

/* ── without one ─────────────────────────────────────────────────────────────────────────────── */

static int print_catalogue(const struct ctl_options *options, const struct catalogue *catalogue,
	enum definition_format format)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r;

	r = listed_write(catalogue, options->toolbox_id, format, options->why, &response);
	if (r != 0) {
		terminal_complain("the list cannot be written: %s",
			r < 0 ? strerror(-r) : "a definition is not JSON");
		return CTL_ERROR;
	}
	r = options->toolbox_id ? narrow_expect_toolbox(catalogue, options->toolbox_id) : CTL_DONE;
	if (r == CTL_DONE)
		r = narrow(options, &response);
	if (r != CTL_DONE && !options->json)
		return r;
	print_list(options, &response);
	if (options->why && !options->json)
		reasons_print(&response);
	return r;
}

static int list_offline(const struct ctl_options *options)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	int format = DEFINITION_FULL;
	int r;

	if (options->format)
		format = definition_format_from_name(options->format, strlen(options->format));
	if (format < 0) {
		terminal_complain(
			"--format must be " DEFINITION_FORMATS ", not '%s'", options->format);
		return CTL_USAGE;
	}
	r = listed_load(options->toolbox_dir, NULL, OFFLINE_ASKS_NEW, &catalogue);
	return r == CTL_DONE ? print_catalogue(options, catalogue, (enum definition_format)format)
			     : r;
}

int ctl_list(const struct ctl_options *options)
{
	int r = check_options(options);

	if (r != 0)
		return r;
	return options->offline ? list_offline(options) : list_online(options);
}
