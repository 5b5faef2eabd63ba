/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/status/reasons.h"
#include "ctl/status/status.h"
#include "ctl/status/text.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "util/array.h"

#define MINUTE_S 60
#define HOUR_S   3600
#define DAY_S    86400

/* A terminal that is as wide has room for reasons beside the figures. */
#define WIDE_COLUMNS 120

/* The sums of a status. */
struct sums {
	double tools;
	uint32_t toolboxes; /* that offer tools */
	uint32_t failed;
	uint32_t quarantined;
	uint32_t disabled;
	double waiting; /* calls */
	uint32_t entry_points;
};

static struct sums sum_up(const struct ctl_response *response, uint32_t rows)
{
	const struct json_tape *tape = &response->tape;
	uint32_t failed = ctl_response_find(response, 0, "failed", JSON_ARRAY);
	struct sums sums = {.failed = failed != JSON_NONE ? json_count(tape, failed) : 0};

	json_each(row, tape, rows) {
		double n_tools = status_number(tape, row, "tools");

		sums.tools += n_tools;
		sums.toolboxes += n_tools > 0;
		sums.quarantined += json_member_is(tape, row, "state", "quarantined");
		sums.disabled += json_member_is(tape, row, "state", "disabled");
		sums.waiting += status_number(tape, row, "queue");
		sums.entry_points += status_has(tape, row, "entry_point");
	}
	return sums;
}

static void append_count(struct buffer *out, uint32_t count, const char *word)
{
	if (count > 0)
		buffer_printf(out, ", %u %s", count, word);
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

/* 57 tools of 19 toolboxes, 5 failed, 1 quarantined
 * toolboxd 0.1.0 on ws://127.0.0.1:8181/core, up 3 h 12 min, generation 4 */
static void append_head(
	const struct ctl_response *response, const struct sums *sums, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	double uptime_s = status_number(tape, 0, "uptime_s");
	cleanup(buffer_deinit) struct buffer line = {0};
	cleanup(buffer_deinit) struct buffer service = {0};

	buffer_printf(&line, "%.0f tool%s of %u toolbox%s", sums->tools,
		sums->tools == 1 ? "" : "s", sums->toolboxes, sums->toolboxes == 1 ? "" : "es");
	append_count(&line, sums->failed, "failed");
	append_count(&line, sums->quarantined, "quarantined");
	append_count(&line, sums->disabled, "disabled");
	terminal_append_paragraph(out, &line, 0, 0);
	buffer_append_string(&service, "toolboxd ");
	terminal_append_member(&service, tape, 0, "version");
	buffer_append_string(&service, " on ");
	terminal_append_member(&service, tape, 0, "bus");
	buffer_append_string(&service, ", up ");
	append_uptime(&service, uptime_s > 0 && uptime_s < 1e15 ? (uint64_t)uptime_s : 0);
	buffer_append_string(&service, ", generation ");
	terminal_append_member(&service, tape, 0, "generation");
	terminal_append_paragraph(out, &service, 0, 0);
}

enum shape {
	SHAPE_PLAIN,
	SHAPE_STATE,
	SHAPE_MS,
};

struct member {
	const char *key;
	struct table_column column;
	enum shape shape;
};

static void add_member(struct table *table, const struct json_tape *tape, uint32_t row,
	const struct member *member)
{
	struct buffer *cell = table_cell(table);

	if (member->shape == SHAPE_MS)
		status_append_duration(cell, status_number(tape, row, member->key));
	else
		terminal_append_member(cell, tape, row, member->key);
	table_next_styled(table, member->shape == SHAPE_STATE ? status_style(tape, row) : NULL);
}

static void append_toolboxes(const struct json_tape *tape, uint32_t rows, const struct sums *sums,
	bool is_wide, struct buffer *out)
{
	static const struct member members[] = {
		{"toolbox_id", {"TOOLBOX", false}, SHAPE_PLAIN},
		{"state", {"STATE", false}, SHAPE_STATE},
		{"tools", {"TOOLS", true}, SHAPE_PLAIN},
		{"running", {"RUNNING", true}, SHAPE_PLAIN},
		{"queue", {"WAITING", true}, SHAPE_PLAIN},
		{"calls", {"CALLS", true}, SHAPE_PLAIN},
		{"errors", {"FAILED", true}, SHAPE_PLAIN},
		{"p50_ms", {"P50", true}, SHAPE_MS},
		{"p99_ms", {"P99", true}, SHAPE_MS},
		{"entry_point", {"ENTRY POINT", false}, SHAPE_PLAIN},
		{"why", {"WHY", false}, SHAPE_PLAIN},
	};
	enum { N_MEMBERS = ARRAY_SIZE(members) };
	cleanup(table_deinit) struct table table = {0};
	struct table_column columns[N_MEMBERS];
	const struct member *shown[N_MEMBERS];
	size_t n_shown = 0;

	for (size_t i = 0; i < N_MEMBERS; i++) {
		const char *key = members[i].key;

		if ((strcmp(key, "queue") == 0 && sums->waiting == 0) ||
			(strcmp(key, "entry_point") == 0 &&
				(sums->entry_points == 0 || !is_wide)) ||
			(strcmp(key, "why") == 0 && !is_wide))
			continue;
		columns[n_shown] = members[i].column;
		shown[n_shown++] = &members[i];
	}
	table_init(&table, columns, n_shown);
	json_each(row, tape, rows)
		for (size_t i = 0; i < n_shown; i++)
			add_member(&table, tape, row, shown[i]);
	buffer_append_char(out, '\n');
	table_append(&table, out);
}

void overview_append(const struct ctl_response *response, struct buffer *out)
{
	uint32_t rows = ctl_response_find(response, 0, "toolboxes", JSON_ARRAY);
	bool is_wide = terminal_width() == 0 || terminal_width() >= WIDE_COLUMNS;
	struct sums sums;

	if (rows == JSON_NONE)
		return;
	sums = sum_up(response, rows);
	append_head(response, &sums, out);
	if (json_count(&response->tape, rows) > 0)
		append_toolboxes(&response->tape, rows, &sums, is_wide, out);
	if (!is_wide)
		reasons_append_states(response, out);
	reasons_append_skipped(response, out);
}
