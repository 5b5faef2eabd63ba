/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/status/reasons.h"
#include "ctl/status/status.h"
#include "ctl/status/text.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "util/array.h"

/* A toolbox: `NAME TEXT` lines, then the tools and the output. */

#define NAME_COLUMNS 11 /* the width of names, with the indent */

/* Append the line @name with @text, unless that is empty. */
static void append_line(struct buffer *out, const char *name, const struct buffer *text)
{
	size_t width = terminal_width();

	buffer_fail_with(out, text);
	if (text->size == 0 || buffer_status(out) < 0)
		return;
	buffer_printf(out, "  %-*s", NAME_COLUMNS - 2, name);
	terminal_append_wrapped(out, text->data, text->size,
		width > NAME_COLUMNS ? width - NAME_COLUMNS : width, NAME_COLUMNS);
	buffer_append_char(out, '\n');
}

/* Append the line @name with the member @key. */
static void append_labelled(struct buffer *out, const char *name, const struct json_tape *tape,
	uint32_t object, const char *key)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	terminal_append_member(&text, tape, object, key);
	append_line(out, name, &text);
}

/* crashy  quarantined since 10:02:28 */
static void append_title(
	const struct json_tape *tape, uint32_t toolbox, const char *id, struct buffer *out)
{
	const char *style = *terminal_plain() ? status_style(tape, toolbox) : NULL;

	buffer_printf(out, "%s%s%s  %s", terminal_bold(), id, terminal_plain(), style ? style : "");
	terminal_append_member(out, tape, toolbox, "state");
	if (status_has(tape, toolbox, "since")) {
		buffer_append_string(out, " since ");
		status_append_time(out, tape, json_find(tape, toolbox, "since"));
	}
	buffer_printf(out, "%s\n", style ? terminal_plain() : "");
}

/* Append what the person can do about the state of the toolbox. */
static void append_advice(
	const struct json_tape *tape, uint32_t toolbox, const char *id, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (json_member_is(tape, toolbox, "state", "quarantined")) {
		buffer_append_string(&text, "toolboxctl reload");
	} else if (json_member_is(tape, toolbox, "state", "disabled")) {
		buffer_printf(&text,
			"toolboxctl enable '%s/*', or change what leaves it out in mycroft.conf",
			id);
	} else if (status_has(tape, toolbox, "last_good")) {
		buffer_append_string(&text, "mend it: toolboxctl check ");
		terminal_append_member(&text, tape, toolbox, "file");
	}
	append_line(out, "try", &text);
}

/* the version of 09:58; the version of 10:12 failed: toolbox.d/libbad.so has no function 'slow' */
static void append_serving(const struct json_tape *tape, uint32_t toolbox, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t last_good = json_find_typed_at(tape, toolbox, "last_good", JSON_OBJECT);

	if (last_good == JSON_NONE)
		return;
	buffer_append_string(&text, "the version of ");
	status_append_time(&text, tape, json_find(tape, last_good, "loaded"));
	buffer_append_string(&text, "; the version of ");
	status_append_time(&text, tape, json_find(tape, last_good, "failed"));
	buffer_append_string(&text, " failed: ");
	terminal_append_member(&text, tape, last_good, "error");
	append_line(out, "serving", &text);
}

/* python, entry point acme-clock, sandbox command; 1 process, 1 call runs, 2 wait */
static void append_kind(const struct json_tape *tape, uint32_t toolbox, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	double hosts = status_number(tape, toolbox, "hosts");

	terminal_append_member(&text, tape, toolbox, "kind");
	if (status_has(tape, toolbox, "entry_point")) {
		buffer_append_string(&text, ", entry point ");
		terminal_append_member(&text, tape, toolbox, "entry_point");
	}
	buffer_append_string(
		&text, status_has(tape, toolbox, "sandbox") ? ", sandbox " : ", no process");
	if (status_has(tape, toolbox, "sandbox"))
		terminal_append_member(&text, tape, toolbox, "sandbox");
	append_line(out, "kind", &text);
	buffer_reset(&text);
	buffer_printf(&text, "%.0f process%s, %.0f running, %.0f waiting", hosts,
		hosts == 1 ? "" : "es", status_number(tape, toolbox, "running"),
		status_number(tape, toolbox, "queue"));
	append_line(out, "now", &text);
}

/* 10:02:28 host_crashed: its host died (SIGABRT) */
static void append_failure(const struct json_tape *tape, uint32_t failure, struct buffer *out)
{
	uint32_t time = json_find(tape, failure, "time");

	if (time != JSON_NONE)
		status_append_time(out, tape, time);
	buffer_append_char(out, ' ');
	terminal_append_member(out, tape, failure, "code");
	if (status_has(tape, failure, "why")) {
		buffer_append_string(out, ": ");
		terminal_append_member(out, tape, failure, "why");
	}
}

static void append_tools(const struct ctl_response *response, struct buffer *out)
{
	static const struct table_column columns[] = {{"TOOL", false}, {"CALLS", true},
		{"FAILED", true}, {"P50", true}, {"P99", true}, {"LAST FAILURE", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t tools = ctl_response_find(response, 0, "tools", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	if (tools == JSON_NONE || json_count(tape, tools) == 0)
		return;
	json_each(i, tape, tools) {
		table_add_member(&table, tape, i, "name");
		table_add_member(&table, tape, i, "calls");
		table_add_member(&table, tape, i, "errors");
		status_append_duration(table_cell(&table), status_number(tape, i, "p50_ms"));
		table_next(&table);
		status_append_duration(table_cell(&table), status_number(tape, i, "p99_ms"));
		table_next(&table);
		if (status_has(tape, i, "last_failure"))
			append_failure(
				tape, json_find(tape, i, "last_failure"), table_cell(&table));
		table_next(&table);
	}
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

static void append_output(const struct ctl_response *response, struct buffer *out)
{
	static const struct table_column columns[] = {{"TIME", false}, {"OUTPUT", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t lines = ctl_response_find(response, 0, "output", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	if (lines == JSON_NONE || json_count(tape, lines) == 0)
		return;
	json_each(i, tape, lines) {
		status_append_time(table_cell(&table), tape, json_find(tape, i, "time"));
		table_next(&table);
		table_add_member(&table, tape, i, "line");
	}
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

static void append_toolbox(
	const struct ctl_response *response, uint32_t toolbox, const char *id, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;

	append_title(tape, toolbox, id, out);
	if (!status_has(tape, toolbox, "last_good"))
		append_labelled(out, "why", tape, toolbox, "why");
	append_serving(tape, toolbox, out);
	append_advice(tape, toolbox, id, out);
	append_labelled(out, "file", tape, toolbox, "file");
	append_labelled(out, "source", tape, toolbox, "source");
	append_kind(tape, toolbox, out);
}

static bool has_entries(const struct ctl_response *response, const char *list)
{
	uint32_t entries = ctl_response_find(response, 0, list, JSON_ARRAY);

	return entries != JSON_NONE && json_count(&response->tape, entries) > 0;
}

/* Append a line for each reason why the files of the toolbox cannot be loaded, and what shows all
 * of them. */
static void append_failed(const struct ctl_response *response, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t entries = ctl_response_find(response, 0, "failed", JSON_ARRAY);

	json_each_found(i, tape, entries)
		append_labelled(out, "failed", tape, i, "error");
	json_each_found(i, tape, entries) {
		buffer_reset(&text);
		buffer_append_string(&text, "toolboxctl check ");
		terminal_append_member(&text, tape, i, "file");
		buffer_append_string(&text, ", which names every mistake with its line");
		append_line(out, "try", &text);
	}
}

bool describe_append(const struct ctl_response *response, const char *id, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	bool is_failed = has_entries(response, "failed");

	if (has_entries(response, "toolboxes")) {
		uint32_t toolboxes = ctl_response_find(response, 0, "toolboxes", JSON_ARRAY);
		uint32_t toolbox = json_first(tape, toolboxes);

		append_toolbox(response, toolbox, id, out);
		/* The line about the version that is served has this error. */
		is_failed = is_failed && !status_has(tape, toolbox, "last_good");
	} else if (is_failed || has_entries(response, "not_offered")) {
		buffer_printf(out, "%s%s%s  %s\n", terminal_bold(), id, terminal_plain(),
			is_failed ? "failed" : "not offered");
	} else {
		return false;
	}
	if (is_failed)
		append_failed(response, out);
	append_tools(response, out);
	reasons_append_not_offered(response, out);
	append_output(response, out);
	return true;
}
