/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
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

/* toolboxctl calls: list the calls in flight, and the last that are over. */

#define LIMIT_MAX "1000"

/* ── the request ─────────────────────────────────────────────────────────────────────────────── */

/* Write the request for the calls that the options mean, since @since_s ago unless it is
 * negative. */
static int write_request(const struct ctl_options *options, double since_s, struct buffer *data)
{
	int r = 0;

	if (options->running || options->failed)
		ctl_request_member(data, "state", options->running ? "running" : "failed");
	if (options->tool)
		r = ctl_request_tool(data, options->tool, options);
	else
		ctl_request_member(data, "toolbox_id", options->toolbox_id);
	ctl_request_member(data, "source", options->source);
	if (since_s >= 0)
		buffer_printf(data, "%s\"since_s\":%.3f,\"limit\":" LIMIT_MAX,
			data->size > 0 ? "," : "", since_s);
	return r;
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
	if (!options->running || !options->failed)
		return 0;
	terminal_complain("a call is either --running or --failed");
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

int ctl_calls(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(call_list_deinit) struct call_list list = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	double since_s;
	int r = check_flags(options);

	if (r == 0)
		r = read_since(options, &since_s);
	if (r == 0)
		r = write_request(options, since_s, &data);
	if (r == 0)
		r = ctl_session_open(options, &session);
	if (r == 0)
		r = call_list_ask(session, &data, &response, &list);
	if (r != 0)
		return r;
	if (options->json)
		ctl_response_print(&response);
	else if (list.n_calls == 0)
		complain_nothing(options);
	else
		print_table(&response, &list);
	return CTL_DONE;
}
