/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status.h"

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/number.h"
#include "util/cleanup.h"

/* toolboxctl status: show the state of the service and its toolboxes. */

#define TOPIC "ovos.tools.status"

#define MINUTE_S 60
#define HOUR_S   3600
#define DAY_S    86400

/* The format of a member in its column. */
enum shape {
	SHAPE_AS_IS,
	SHAPE_MS, /* milliseconds, when there were calls */
};

struct status_column {
	const char *key;
	enum shape shape;
};

static double number_at(const struct json_tape *tape, uint32_t token)
{
	double number = 0;

	if (token != JSON_NONE && json_type_at(tape, token) == JSON_NUMBER)
		json_number_f64(tape, token, &number);
	return number;
}

static void add_duration(struct table *table, double ms)
{
	char text[32];

	snprintf(text, sizeof(text), ms >= 100 ? "%.0f ms" : "%.3g ms", ms);
	table_add(table, ms > 0 ? text : "-");
}

static void add_value(struct table *table, const struct json_tape *tape, uint32_t value)
{
	if (value != JSON_NONE)
		terminal_append_value(table_cell(table), tape, value);
	table_next(table);
}

/* Print the rows of the array @rows, and return whether there are any. */
static bool print_rows(const struct json_tape *tape, uint32_t rows,
	const struct table_column *columns, const struct status_column *members, size_t n_columns)
{
	cleanup(table_deinit) struct table table = {0};

	if (rows == JSON_NONE || json_count(tape, rows) == 0)
		return false;
	table_init(&table, columns, n_columns);
	for (uint32_t row = json_first(tape, rows); row < json_end(tape, rows);
		row = json_next(tape, row)) {
		for (size_t i = 0; i < n_columns; i++) {
			uint32_t value = json_find(tape, row, members[i].key);

			if (members[i].shape == SHAPE_MS)
				add_duration(&table, number_at(tape, value));
			else
				add_value(&table, tape, value);
		}
	}
	table_print(&table);
	return true;
}

static void print_toolboxes(const struct ctl_response *response)
{
	static const struct table_column columns[] = {{"TOOLBOX", false}, {"STATE", false},
		{"HOSTS", true}, {"CALLS", true}, {"ERRORS", true}, {"QUEUE", true}, {"P50", true},
		{"P99", true}, {"WHY", false}};
	static const struct status_column members[] = {{"toolbox_id", SHAPE_AS_IS},
		{"state", SHAPE_AS_IS}, {"hosts", SHAPE_AS_IS}, {"calls", SHAPE_AS_IS},
		{"errors", SHAPE_AS_IS}, {"queue", SHAPE_AS_IS}, {"p50_ms", SHAPE_MS},
		{"p99_ms", SHAPE_MS}, {"why", SHAPE_AS_IS}};

	print_rows(&response->tape, ctl_response_find(response, 0, "toolboxes", JSON_ARRAY),
		columns, members, sizeof(columns) / sizeof(*columns));
}

static void print_skipped(const struct ctl_response *response)
{
	static const struct table_column failed[] = {{"FAILED", false}, {"ERROR", false}};
	static const struct status_column failed_members[] = {
		{"toolbox_id", SHAPE_AS_IS}, {"error", SHAPE_AS_IS}};
	static const struct table_column absent[] = {
		{"NOT OFFERED", false}, {"TOOL", false}, {"WHY", false}};
	static const struct status_column absent_members[] = {
		{"toolbox_id", SHAPE_AS_IS}, {"name", SHAPE_AS_IS}, {"why", SHAPE_AS_IS}};
	uint32_t failures = ctl_response_find(response, 0, "failed", JSON_ARRAY);
	uint32_t skipped = ctl_response_find(response, 0, "not_offered", JSON_ARRAY);

	if (failures != JSON_NONE && json_count(&response->tape, failures) > 0)
		putchar('\n');
	print_rows(&response->tape, failures, failed, failed_members, 2);
	if (skipped != JSON_NONE && json_count(&response->tape, skipped) > 0)
		putchar('\n');
	print_rows(&response->tape, skipped, absent, absent_members, 3);
}

/* Print the toolboxes that have a reason for their state. */
static void print_reasons(const struct ctl_response *response)
{
	static const struct table_column columns[] = {
		{"TOOLBOX", false}, {"STATE", false}, {"WHY", false}};
	const struct json_tape *tape = &response->tape;
	uint32_t rows = ctl_response_find(response, 0, "toolboxes", JSON_ARRAY);
	cleanup(table_deinit) struct table table = {0};
	bool is_empty = true;

	if (rows == JSON_NONE)
		return;
	table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t row = json_first(tape, rows); row < json_end(tape, rows);
		row = json_next(tape, row)) {
		uint32_t why = json_find(tape, row, "why");

		if (why == JSON_NONE || json_type_at(tape, why) == JSON_NULL)
			continue;
		is_empty = false;
		add_value(&table, tape, json_find(tape, row, "toolbox_id"));
		add_value(&table, tape, json_find(tape, row, "state"));
		add_value(&table, tape, why);
	}
	if (is_empty)
		return;
	putchar('\n');
	table_print(&table);
}

static void append_uptime(struct buffer *out, uint64_t seconds)
{
	if (seconds >= DAY_S)
		buffer_printf(out, "%llu d ", (unsigned long long)(seconds / DAY_S));
	if (seconds >= HOUR_S)
		buffer_printf(out, "%llu h ", (unsigned long long)(seconds % DAY_S / HOUR_S));
	if (seconds >= MINUTE_S)
		buffer_printf(out, "%llu min", (unsigned long long)(seconds % HOUR_S / MINUTE_S));
	else
		buffer_printf(out, "%llu s", (unsigned long long)seconds);
}

static void append_member(
	struct buffer *out, const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find(tape, object, key);

	if (value != JSON_NONE)
		terminal_append_value(out, tape, value);
}

/* toolboxd 0.1.0 on ws://127.0.0.1:8181/core, up 3 h 12 min, generation 4 */
static void print_service(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	double uptime_s = number_at(&response->tape, json_find(&response->tape, 0, "uptime_s"));

	buffer_append_string(&line, "toolboxd ");
	append_member(&line, &response->tape, 0, "version");
	buffer_append_string(&line, " on ");
	append_member(&line, &response->tape, 0, "bus");
	buffer_append_string(&line, ", up ");
	append_uptime(&line, uptime_s > 0 && uptime_s < 1e15 ? (uint64_t)uptime_s : 0);
	buffer_append_string(&line, ", generation ");
	append_member(&line, &response->tape, 0, "generation");
	buffer_append_string(&line, "\n\n");
	terminal_print(&line);
}

/* Complain about a key without which no one can answer questions. */
static void complain_key(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	uint32_t approval = ctl_response_find(response, 0, "approval", JSON_OBJECT);
	uint32_t why =
		approval != JSON_NONE ? json_find(&response->tape, approval, "why") : JSON_NONE;

	if (why == JSON_NONE || json_type_at(&response->tape, why) != JSON_STRING)
		return;
	terminal_append_value(&reason, &response->tape, why);
	if (buffer_terminate(&reason))
		terminal_complain("no one can approve calls: approval.key_file %s", reason.data);
}

static int ask_for_status(struct ctl_session *session, struct ctl_response *ret_response)
{
	cleanup(buffer_deinit) struct buffer data = {0};

	ctl_request_begin(&data);
	ctl_request_end(&data);
	return ctl_session_ask(session, TOPIC, &data, ret_response);
}

/* Complain of lines that the audit log lacks. */
static void complain_audit(const struct ctl_response *response)
{
	const struct json_tape *tape = &response->tape;
	uint32_t audit = ctl_response_find(response, 0, "audit", JSON_OBJECT);
	cleanup(buffer_deinit) struct buffer text = {0};
	uint32_t lost;
	uint32_t error;

	if (audit == JSON_NONE)
		return;
	lost = json_find(tape, audit, "lost");
	error = json_find(tape, audit, "error");
	if (number_at(tape, lost) == 0 &&
		(error == JSON_NONE || json_type_at(tape, error) != JSON_STRING))
		return;
	buffer_append_string(&text, "the audit log ");
	append_member(&text, tape, audit, "file");
	buffer_append_string(&text, " lacks ");
	append_member(&text, tape, audit, "lost");
	buffer_append_string(&text, " lines");
	if (error != JSON_NONE && json_type_at(tape, error) == JSON_STRING) {
		buffer_append_string(&text, ": ");
		terminal_append_value(&text, tape, error);
	}
	if (buffer_terminate(&text))
		terminal_complain("%s", text.data);
}

int ctl_status(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_session_open(options, &session);

	if (r == 0)
		r = ask_for_status(session, &response);
	if (r != 0)
		return r;
	r = ctl_response_status(&response);
	if (options->json) {
		ctl_response_print(&response);
	} else if (r != CTL_DONE) {
		ctl_response_complain(&response);
	} else {
		print_service(&response);
		print_toolboxes(&response);
		print_skipped(&response);
		ctl_response_complain_mistakes(&response, false);
		complain_audit(&response);
		complain_key(&response);
	}
	return r;
}

void ctl_print_reason(const struct ctl_response *response)
{
	print_skipped(response);
	print_reasons(response);
}

int ctl_print_skipped(struct ctl_session *session)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ask_for_status(session, &response);

	if (r == 0)
		ctl_print_reason(&response);
	return r;
}
