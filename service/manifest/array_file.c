/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/array_file.h"

#include <stdio.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/stringify.h"

/* The defaults of an element without these members, in seconds. */
#define TIMEOUT_S  5
#define COOLDOWN_S 30

#define DAY_S 86400

/* One element being translated. */
struct translation {
	const struct json_tape *tape;
	uint32_t element;
	struct diagnostics *problems;
	struct buffer *out;
};

/* The member @key; null counts as absent. */
static uint32_t find_given(const struct translation *translation, const char *key)
{
	return json_find_present(translation->tape, translation->element, key);
}

static void copy(const struct translation *translation, const char *key)
{
	uint32_t value = find_given(translation, key);

	if (value == JSON_NONE)
		return;
	json_write_key(translation->out, key);
	json_write_compact(translation->out, translation->tape, value);
	buffer_append_char(translation->out, ',');
}

/* Write the seconds at @key, times @unit and rounded up, as the member @as. */
static void copy_seconds(const struct translation *translation, const char *key, const char *as,
	double unit, double usual_s, bool may_be_zero)
{
	uint32_t value = find_given(translation, key);
	double seconds = usual_s;

	if (value != JSON_NONE &&
		(json_type_at(translation->tape, value) != JSON_NUMBER ||
			json_number_f64(translation->tape, value, &seconds) || !(seconds >= 0) ||
			seconds > DAY_S || (seconds == 0 && !may_be_zero))) {
		diagnose_found(translation->problems, translation->tape, value,
			may_be_zero ? "must be a number of seconds from 0 to " STRINGIFY(DAY_S)
				    : "must be a number of seconds above 0, and at most " STRINGIFY(
					      DAY_S));
		seconds = usual_s;
	}
	json_write_key(translation->out, as);
	json_write_u64(translation->out, clock_round_up(seconds * unit));
	buffer_append_char(translation->out, ',');
}

static void translate(const struct translation *translation)
{
	const struct json_tape *tape = translation->tape;
	uint32_t command;

	if (json_type_at(tape, translation->element) != JSON_OBJECT) {
		diagnose_found(translation->problems, tape, translation->element,
			"must be an object with 'name' and 'command', a shell line");
		return;
	}
	command = find_given(translation, "command");
	if (command == JSON_NONE) {
		diagnose(translation->problems, DIAGNOSTIC_ERROR, tape, translation->element,
			"missing required property 'command' (a shell line)");
		return;
	}
	buffer_append_char(translation->out, '{');
	copy(translation, "name");
	copy(translation, "description");
	copy(translation, "triggers");
	copy_seconds(translation, "timeout", "timeout_ms", 1000, TIMEOUT_S, false);
	copy_seconds(translation, "cooldown", "cooldown_s", 1, COOLDOWN_S, true);
	buffer_append_string(translation->out, "\"command\":{\"shell\":");
	json_write_compact(translation->out, tape, command);
	buffer_append_string(translation->out, "}}");
}

int array_file_translate(
	const struct json_tape *tape, struct diagnostics *problems, struct buffer *out)
{
	struct translation translation = {.tape = tape, .problems = problems, .out = out};

	buffer_append_string(out, "{\"kind\":\"command\",\"tools\":[");
	json_each(at, tape, 0) {
		if (at != json_first(tape, 0))
			buffer_append_char(out, ',');
		translation.element = at;
		translate(&translation);
	}
	buffer_append_string(out, "]}");
	return buffer_status(out);
}

void array_file_pointer(const char *pointer, char *ret, size_t size)
{
	static const char *const members[][2] = {
		{"/command/shell", "/command"},
		{"/timeout_ms", "/timeout"},
		{"/cooldown_s", "/cooldown"},
	};
	const char *element = strncmp(pointer, "/tools/", 7) == 0 ? pointer + 6 : "";
	const char *rest = *element ? element + 1 + strcspn(element + 1, "/") : element;
	const char *member = rest;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strcmp(rest, members[i][0]) == 0)
			member = members[i][1];
	snprintf(ret, size, "%.*s%s", (int)(rest - element), element, member);
}
