/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/status/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "util/array.h"

double status_number_at(const struct json_tape *tape, uint32_t token)
{
	double number = 0;

	json_read_f64(tape, token, &number);
	return number;
}

double status_number(const struct json_tape *tape, uint32_t object, const char *key)
{
	return status_number_at(tape, json_find(tape, object, key));
}

bool status_has(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t value = json_find(tape, object, key);

	return value != JSON_NONE && json_type_at(tape, value) != JSON_NULL;
}

void status_append_duration(struct buffer *out, double ms)
{
	if (ms > 0)
		buffer_printf(out, ms >= 100 ? "%.0f ms" : "%.3g ms", ms);
	else
		buffer_append_char(out, '-');
}

void status_append_time(struct buffer *out, const struct json_tape *tape, uint32_t token)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct tm parts = {0};

	terminal_append_value(&text, tape, token);
	if (!buffer_terminate(&text) || !strptime(text.data, "%Y-%m-%dT%H:%M:%S", &parts)) {
		buffer_append_buffer(out, &text);
		return;
	}
	terminal_append_time(out, timegm(&parts));
}

const char *status_style(const struct json_tape *tape, uint32_t toolbox)
{
	static const struct {
		const char *state;
		const char *style;
	} styles[] = {{"ready", TERMINAL_GREEN}, {"restarting", TERMINAL_YELLOW},
		{"starting", TERMINAL_YELLOW}, {"quarantined", TERMINAL_RED},
		{"disabled", TERMINAL_FAINT}};
	uint32_t state = json_find_typed_at(tape, toolbox, "state", JSON_STRING);

	if (state == JSON_NONE)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		const char *name = styles[i].state;

		if (json_is_text(tape, state, name))
			return status_has(tape, toolbox, "last_good") && i == 0 ? TERMINAL_YELLOW
										: styles[i].style;
	}
	return NULL;
}
