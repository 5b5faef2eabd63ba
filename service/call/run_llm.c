/* SPDX-License-Identifier: Apache-2.0 */
#include "call/run_llm.h"

#include <string.h>

#include "json/member.h"
#include "json/writer.h"

#define DESCRIPTION                                                                                \
	"Whether you speak after this tool: true to go on with its result, false to be silent."

enum run_llm run_llm_at(const struct json_tape *tape, uint32_t token)
{
	if (token == JSON_NONE)
		return RUN_LLM_UNSAID;
	if (json_type_at(tape, token) == JSON_STRING)
		return RUN_LLM_ARGUMENT;
	return json_is_true(tape, token) ? RUN_LLM_YES : RUN_LLM_NO;
}

bool run_llm_is_declared(const struct json_tape *tape)
{
	uint32_t properties = json_find_typed_at(tape, 0, "properties", JSON_OBJECT);

	return json_find_typed(tape, properties, RUN_LLM_KEY, JSON_OBJECT) != JSON_NONE;
}

/* Append the key at @key and a colon, after a comma unless @out ends in the brace of its object. */
static void begin_schema_member(const struct json_tape *tape, uint32_t key, struct buffer *out)
{
	if (out->size > 0 && out->data[out->size - 1] != '{')
		buffer_append_char(out, ',');
	json_write_compact(out, tape, key);
	buffer_append_char(out, ':');
}

static void append_property(enum run_llm value, struct buffer *out)
{
	buffer_printf(out,
		"%s\"" RUN_LLM_KEY "\":{\"type\":\"boolean\",\"default\":%s,"
		"\"description\":\"" DESCRIPTION "\"}}",
		out->size > 0 && out->data[out->size - 1] == '{' ? "" : ",",
		value == RUN_LLM_YES ? "true" : "false");
}

void run_llm_write_listed(const struct json_tape *tape, enum run_llm value, struct buffer *out)
{
	bool has_properties = false;

	buffer_append_char(out, '{');
	json_each_key(key, tape, 0) {
		begin_schema_member(tape, key, out);
		json_write_compact(out, tape, key + 1);
		if (!json_is_text(tape, key, "properties") ||
			json_type_at(tape, key + 1) != JSON_OBJECT || buffer_status(out) < 0)
			continue;
		has_properties = true;
		out->size--; /* the brace */
		append_property(value, out);
	}
	if (!has_properties) {
		buffer_append_string(out, json_count(tape, 0) > 0 ? "," : "");
		buffer_append_string(out, "\"properties\":{");
		append_property(value, out);
	}
	buffer_append_char(out, '}');
}

void run_llm_write_rest(const struct json_tape *tape, uint32_t object, struct buffer *out)
{
	buffer_append_char(out, '{');
	json_each_key(key, tape, object) {
		if (json_is_text(tape, key, RUN_LLM_KEY))
			continue;
		begin_schema_member(tape, key, out);
		json_write_compact(out, tape, key + 1);
	}
	buffer_append_char(out, '}');
}

/* Append the array of names at @array without the name `run_llm`. */
static void write_other_names(const struct json_tape *tape, uint32_t array, struct buffer *out)
{
	const char *separator = "";

	buffer_append_char(out, '[');
	json_each(name, tape, array) {
		if (json_is_text(tape, name, RUN_LLM_KEY))
			continue;
		buffer_append_string(out, separator);
		json_write_compact(out, tape, name);
		separator = ",";
	}
	buffer_append_char(out, ']');
}

void run_llm_write_checked(const struct json_tape *tape, struct buffer *out)
{
	buffer_append_char(out, '{');
	json_each_key(key, tape, 0) {
		enum json_type type = json_type_at(tape, key + 1);

		begin_schema_member(tape, key, out);
		if (type == JSON_OBJECT && json_is_text(tape, key, "properties"))
			run_llm_write_rest(tape, key + 1, out);
		else if (type == JSON_ARRAY && json_is_text(tape, key, "required"))
			write_other_names(tape, key + 1, out);
		else
			json_write_compact(out, tape, key + 1);
	}
	buffer_append_char(out, '}');
}
