/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "ctl/calls/row.h"
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"

/*
 * toolboxctl jobs: the calls in the background.
 *
 *   jobs ─────────────▶ ovos.tools.job.list ──▶ a table
 *   jobs get JOB ─────▶ .get ─────────────────▶ its result or error, or its state
 *   jobs wait JOB ────▶ .get with wait_ms, until it has ended
 *   jobs cancel JOB ──▶ .cancel
 */

/* One wait for the end of a job, shorter than the time for a response. */
#define WAIT_MS "4000"

/* ── the list ────────────────────────────────────────────────────────────────────────────────── */

static void print_jobs(const struct ctl_response *response)
{
	static const struct table_column columns[] = {{"JOB", false}, {"TOOL", false},
		{"STATE", false}, {"STARTED", false}, {"TEXT", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t jobs = ctl_response_find(response, 0, "jobs", JSON_ARRAY);
	cleanup(table_deinit) struct table table = TABLE(columns);

	if (jobs == JSON_NONE)
		return;
	json_each(job, tape, jobs) {
		cleanup(buffer_deinit) struct buffer started = {0};

		table_add_member(&table, tape, job, "job_id");
		terminal_append_tool(table_cell(&table), tape, job);
		table_next(&table);
		table_add_member(&table, tape, job, "state");
		terminal_append_member(&started, tape, job, "started");
		table_add_time(&table, buffer_terminate(&started) ? started.data : "");
		table_add_member(&table, tape, job, "text");
	}
	table_print(&table);
}

/* ── a job ───────────────────────────────────────────────────────────────────────────────────── */

/* Print the result of a job, or that it runs. */
static void print_end(const struct ctl_response *response)
{
	uint32_t result = json_find(&response->tape, 0, "result");

	if (result != JSON_NONE)
		terminal_print_json(&response->tape, result);
	else if (row_is_running(response, 0))
		puts("running");
}

static void print_cancelled(const struct ctl_response *response)
{
	puts(ctl_response_find(response, 0, "cancelled", JSON_TRUE) != JSON_NONE ? "cancelled"
										 : "it has ended");
}

/* Ask on @topic about the job @id, and wait for its end if @waits. */
static int ask_about(struct ctl_session *session, const char *topic, const char *id, bool waits,
	struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_member(&data, "job_id", id);
	if (waits)
		buffer_append_string(&data, ",\"wait_ms\":" WAIT_MS);
	return ctl_session_ask(session, topic, &data, ret_response);
}

/* Get the job @id, as it is or at its end. */
static int get_job(
	struct ctl_session *session, const struct ctl_options *options, const char *id, bool waits)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ask_about(session, "ovos.tools.job.get", id, waits, &response);

	while (r == 0 && waits && row_is_running(&response, 0))
		r = ask_about(session, "ovos.tools.job.get", id, waits, &response);
	return r == 0 ? ctl_response_report(&response, options->json, print_end) : r;
}

static int cancel_job(
	struct ctl_session *session, const struct ctl_options *options, const char *id)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ask_about(session, "ovos.tools.job.cancel", id, false, &response);

	return r == 0 ? ctl_response_report(&response, options->json, print_cancelled) : r;
}

static int list_jobs(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_session_ask(session, "ovos.tools.job.list", NULL, &response);

	return r == 0 ? ctl_response_report(&response, options->json, print_jobs) : r;
}

int ctl_jobs(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	const char *word = options->n_positional > 1 ? options->positional[1] : NULL;
	bool waits = word && strcmp(word, "wait") == 0;
	bool cancels = word && strcmp(word, "cancel") == 0;
	int r;

	if (word &&
		((!waits && !cancels && strcmp(word, "get") != 0) || options->n_positional < 3)) {
		terminal_complain(
			"expected `jobs`, or `jobs get`, `wait` or `cancel` with ids of jobs");
		return CTL_USAGE;
	}
	r = ctl_session_open(options, &session);
	if (r == 0 && !word)
		return list_jobs(session, options);
	for (size_t i = 2; r == 0 && i < options->n_positional; i++)
		r = cancels ? cancel_job(session, options, options->positional[i])
			    : get_job(session, options, options->positional[i], waits);
	return r;
}
