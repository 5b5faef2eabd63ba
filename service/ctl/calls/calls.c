/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/calls/query.h"
#include "ctl/calls/row.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/since.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/wrap.h"

/*
 * toolboxctl calls: list calls, and go on with those that end.
 *
 *   ask ──▶ table ──--follow──▶ every FOLLOW_MS: ask for those since the last time ──▶ a line for each
 *                                                that was not among them
 */

#define FOLLOW_MS 1000

/* The columns before the second one: a line that is too long goes on there. */
#define HANGING 10

/* A call that ended so long before the last answer is asked for again: no call is missed. */
#define OVERLAP_S 5.0

#define LIMIT_MAX "1000"
#define MS_PER_SF 1000.0

/* The widths of the columns of lines that follow a table. */
static const size_t widths[ROW_CELLS] = {
	[ROW_TIME] = 8, [ROW_ID] = 6, [ROW_TOOL] = 24, [ROW_CALLER] = 12, [ROW_TOOK] = 9};

/* One list, and the calls of the answer before. */
struct following {
	const struct ctl_options *options;
	struct ctl_session *session;
	struct ctl_response response;
	struct call_list list;
	struct ctl_response before_response;
	struct call_list before;
};

/* ── the request ─────────────────────────────────────────────────────────────────────────────── */

/* Write the request for the calls that the options mean, since @since_s ago unless it is negative. */
static int write_request(const struct ctl_options *options, double since_s, struct buffer *data)
{
	const char *slash = options->tool ? strchr(options->tool, '/') : NULL;
	cleanup_free char *toolbox =
		slash ? strndup(options->tool, (size_t)(slash - options->tool)) : NULL;

	if (toolbox && options->toolbox_id && strcmp(toolbox, options->toolbox_id) != 0) {
		terminal_complain("'%s' is not in the toolbox that --toolbox names, '%s'",
			options->tool, options->toolbox_id);
		return CTL_USAGE;
	}
	ctl_request_begin(data);
	if (options->running || options->failed)
		ctl_request_member(data, "state", options->running ? "running" : "failed");
	ctl_request_member(data, "name", slash ? slash + 1 : options->tool);
	ctl_request_member(data, "toolbox_id", toolbox ? toolbox : options->toolbox_id);
	ctl_request_member(data, "source", options->source);
	if (since_s >= 0)
		buffer_printf(data, "%s\"since_s\":%.3f", data->size > 1 ? "," : "", since_s);
	if (since_s >= 0)
		buffer_append_string(data, ",\"limit\":" LIMIT_MAX);
	ctl_request_end(data);
	return 0;
}

/* Set the seconds since the time of --since, negative without one. */
static int read_since(const struct ctl_options *options, double *ret_since_s)
{
	time_t since;
	int r;

	*ret_since_s = -1;
	if (!options->since)
		return 0;
	r = since_read(options->since, &since);
	if (r == 0)
		*ret_since_s = since < time(NULL) ? difftime(time(NULL), since) : 0;
	return r;
}

static int check_flags(const struct ctl_options *options)
{
	if (options->running && options->failed)
		terminal_complain("a call is either --running or --failed");
	else if (options->running && options->follow)
		terminal_complain(
			"--follow prints calls when they have ended; see toolboxctl watch "
			"for those that begin");
	else
		return 0;
	return CTL_USAGE;
}

/* ── output ──────────────────────────────────────────────────────────────────────────────────── */

static void print_table(const struct ctl_response *response, const struct call_list *list)
{
	static const struct table_column columns[ROW_CELLS] = {
		[ROW_TIME] = {"TIME", false},
		[ROW_ID] = {"CALL", false},
		[ROW_TOOL] = {"TOOL", false},
		[ROW_CALLER] = {"CALLER", false},
		[ROW_TOOK] = {"TOOK", true},
		[ROW_OUTCOME] = {"OUTCOME", false},
	};
	cleanup(table_deinit) struct table table = {0};

	table_init(&table, columns, ROW_CELLS);
	for (size_t i = 0; i < list->n_calls; i++)
		for (enum row_cell cell = 0; cell < ROW_CELLS; cell++) {
			row_write(response, list->calls[i], cell, table_cell(&table));
			table_next(&table);
		}
	table_print(&table);
}

/* Report that the table has no row. */
static void complain_nothing(const struct ctl_options *options)
{
	bool is_narrowed =
		options->tool || options->toolbox_id || options->source || options->since;

	terminal_complain("no call%s %s", is_narrowed ? " that is asked for" : "",
		options->running  ? "runs"
		: options->failed ? "has failed"
				  : "was made");
}

/* Print the call at @index as one line: columns, or JSON. */
static void print_line(const struct following *following, uint32_t index)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	if (following->options->json) {
		size_t size;
		const char *text = json_value_text(&following->response.tape, index, &size);

		buffer_append(&line, text, size);
		buffer_append_char(&line, '\n');
		terminal_print_json_text(&line);
		return;
	}
	for (enum row_cell cell = 0; cell < ROW_CELLS; cell++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		size_t width = 0;

		row_write(&following->response, index, cell, &text);
		if (text.size > 0)
			wrap_prefix(text.data, text.size, SIZE_MAX, &width);
		if (cell == ROW_TOOK)
			terminal_append_spaces(
				&line, width < widths[cell] ? widths[cell] - width : 0);
		buffer_append_buffer(&line, &text);
		if (cell != ROW_TOOK && cell + 1 < ROW_CELLS)
			terminal_append_spaces(
				&line, width < widths[cell] ? widths[cell] - width : 0);
		if (cell + 1 < ROW_CELLS)
			terminal_append_spaces(&line, 2);
	}
	terminal_append_paragraph(&out, &line, 0, HANGING);
	terminal_print(&out);
}

/* ── following ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether the call at @index was over in the answer before, too. */
static bool was_printed(const struct following *following, uint32_t index)
{
	const struct ctl_response *before = &following->before_response;
	uint32_t id = ctl_response_find(&following->response, index, "id", JSON_STRING);

	for (size_t i = 0; i < following->before.n_calls; i++) {
		uint32_t other =
			ctl_response_find(before, following->before.calls[i], "id", JSON_STRING);

		if (!row_is_running(before, following->before.calls[i]) && id != JSON_NONE &&
			other != JSON_NONE &&
			json_strings_equal(&following->response.tape, id, &before->tape, other))
			return true;
	}
	return false;
}

/* Print the calls that are over now and were not before. */
static void print_new(struct following *following)
{
	for (size_t i = 0; i < following->list.n_calls; i++) {
		uint32_t index = following->list.calls[i];

		if (!row_is_running(&following->response, index) && !was_printed(following, index))
			print_line(following, index);
	}
	fflush(stdout);
}

/* Make the answer the one before, with the memory of that for the next one. */
static void turn(struct following *following)
{
	struct ctl_response response = following->before_response;
	struct call_list list = following->before;

	following->before_response = following->response;
	following->before = following->list;
	following->response = response;
	following->list = list;
}

/* Print calls as they end, the first answer being printed. Return an enum ctl_status. */
static int follow(struct following *following)
{
	uint64_t asked_ms = clock_now_ms();
	int r = 0;

	ctl_session_stay(following->session);
	while (r == 0) {
		cleanup(buffer_deinit) struct buffer data = {0};
		uint64_t now_ms;

		r = ctl_session_wait(following->session, FOLLOW_MS);
		if (r != 0)
			break;
		now_ms = clock_now_ms();
		turn(following);
		write_request(following->options,
			(double)(now_ms - asked_ms) / MS_PER_SF + OVERLAP_S, &data);
		r = call_list_ask(
			following->session, &data, &following->response, &following->list);
		if (r == 0) {
			print_new(following);
			asked_ms = now_ms;
		} else if (r == CTL_NO_BUS) {
			turn(following);
			r = 0;
		}
	}
	return r;
}

static void following_deinit(struct following *following)
{
	call_list_deinit(&following->list);
	call_list_deinit(&following->before);
	ctl_response_deinit(&following->response);
	ctl_response_deinit(&following->before_response);
}

int ctl_calls(const struct ctl_options *options)
{
	cleanup(following_deinit) struct following following = {.options = options};
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(buffer_deinit) struct buffer data = {0};
	double since_s;
	int r = check_flags(options);

	if (r == 0)
		r = read_since(options, &since_s);
	if (r == 0)
		r = write_request(options, since_s, &data);
	if (r == 0)
		r = ctl_session_open(options, &session);
	following.session = session;
	if (r == 0)
		r = call_list_ask(session, &data, &following.response, &following.list);
	if (r != 0)
		return r;
	if (!options->json && following.list.n_calls == 0)
		complain_nothing(options);
	else if (!options->json)
		print_table(&following.response, &following.list);
	else if (!options->follow)
		ctl_response_print(&following.response);
	else
		print_new(&following);
	fflush(stdout);
	return options->follow ? follow(&following) : CTL_DONE;
}
