/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/calls/row.h"

#include <string.h>
#include <time.h>

#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "util/clock.h"

#define S_PER_MINUTE  60.0
#define PERCENT       100.0
#define IN_MS_BELOW   1000.0
#define IN_S_BELOW_MS (S_PER_MINUTE * MS_PER_S)

/* Return the number @key of the call, or -1 without one. */
static double number_of(const struct ctl_response *response, uint32_t index, const char *key)
{
	double value = -1;

	json_read_f64(&response->tape, json_find(&response->tape, index, key), &value);
	return value;
}

/* Append the time of the beginning by the local clock, with the day unless that is today. */
static void append_time(const struct ctl_response *response, uint32_t index, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	time_t now = time(NULL);
	struct tm parts = {0};
	struct tm today;
	time_t started;
	char stamp[32];

	if (!json_read_text(&response->tape, json_find(&response->tape, index, "started"), &text))
		return;
	if (!buffer_terminate(&text) || !strptime(text.data, "%Y-%m-%dT%H:%M:%S", &parts))
		return;
	started = timegm(&parts);
	localtime_r(&started, &parts);
	localtime_r(&now, &today);
	strftime(stamp, sizeof(stamp),
		parts.tm_year == today.tm_year && parts.tm_yday == today.tm_yday ? "%H:%M:%S"
										 : "%m-%d %H:%M:%S",
		&parts);
	buffer_append_string(out, stamp);
}

static void append_tool(const struct ctl_response *response, uint32_t index, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;

	if (ctl_response_find(response, index, "toolbox_id", JSON_STRING) != JSON_NONE) {
		terminal_append_member(out, tape, index, "toolbox_id");
		buffer_append_char(out, '/');
	}
	terminal_append_member(out, tape, index, "name");
}

static void append_duration(double ms, struct buffer *out)
{
	if (ms < IN_MS_BELOW)
		buffer_printf(out, "%.1f ms", ms);
	else if (ms < IN_S_BELOW_MS)
		buffer_printf(out, "%.1f s", ms / MS_PER_S);
	else
		buffer_printf(out, "%.1f min", ms / MS_PER_S / S_PER_MINUTE);
}

/* Append the code or the state, the progress and the text. */
static void append_row_outcome(
	const struct ctl_response *response, uint32_t index, struct buffer *out)
{
	const struct json_tape *tape = &response->tape;
	uint32_t progress = ctl_response_find(response, index, "progress", JSON_NUMBER);
	bool is_running = row_is_running(response, index);

	if (ctl_response_find(response, index, "code", JSON_STRING) != JSON_NONE)
		terminal_append_member(out, tape, index, "code");
	else
		buffer_append_string(out, is_running ? "running" : "ok");
	if (is_running && progress != JSON_NONE)
		buffer_printf(out, "  [%.0f %%]", number_of(response, index, "progress") * PERCENT);
	if (ctl_response_find(response, index, "text", JSON_STRING) == JSON_NONE)
		return;
	buffer_append_string(out, "  ");
	terminal_append_member(out, tape, index, "text");
}

bool row_is_running(const struct ctl_response *response, uint32_t index)
{
	return json_member_is(&response->tape, index, "state", "running");
}

void row_write(
	const struct ctl_response *response, uint32_t index, enum row_cell cell, struct buffer *out)
{
	switch (cell) {
	case ROW_TIME:
		append_time(response, index, out);
		break;
	case ROW_ID:
		terminal_append_member(out, &response->tape, index, "id");
		break;
	case ROW_TOOL:
		append_tool(response, index, out);
		break;
	case ROW_CALLER:
		terminal_append_member(out, &response->tape, index, "source");
		break;
	case ROW_TOOK:
		append_duration(number_of(response, index, "duration_ms"), out);
		break;
	case ROW_OUTCOME:
		append_row_outcome(response, index, out);
		break;
	case ROW_CELLS:
		break;
	}
}
