/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/mend.h"

#include <stdbool.h>
#include <string.h>

#include "json/pointer.h"
#include "json/writer.h"
#include "util/array.h"

/* A value left out, or written as {}. */
struct mistake {
	const struct json_tape *tape;
	uint32_t token;
	bool is_schema;
};

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Return whether the members of the object at @pointer are schemas. A property with such a name has
 * a schema, too, so its members are not what this takes them for; but an object among them is never
 * wrong as a whole. */
static bool has_schemas(const char *pointer)
{
	static const char *const names[] = {
		"/properties", "/patternProperties", "/$defs", "/definitions", "/dependentSchemas"};
	const char *last = strrchr(pointer, '/');

	for (size_t i = 0; last && i < ARRAY_SIZE(names); i++)
		if (strcmp(last, names[i]) == 0)
			return true;
	return false;
}

/* Find the member at @pointer, or the member around it, and cut @pointer to its place. Return false
 * if no such member may go. */
static bool find_mistake(char *pointer, struct mistake *mistake)
{
	while (starts_with(pointer, "/argument_schema/") ||
		starts_with(pointer, "/output_schema")) {
		char *last = strrchr(pointer, '/');
		uint32_t parent;
		bool is_member;

		*last = '\0';
		is_member = json_pointer_find(mistake->tape, pointer, NULL, &parent) &&
			    json_type_at(mistake->tape, parent) == JSON_OBJECT;
		mistake->is_schema = has_schemas(pointer);
		*last = '/';
		if (is_member && json_pointer_find(mistake->tape, pointer, NULL, &mistake->token))
			return true;
		*last = '\0';
	}
	return false;
}

/* Append the value at @index without the mistake inside. */
static void write_rest(const struct mistake *mistake, uint32_t index, struct buffer *out)
{
	const struct json_tape *tape = mistake->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	uint32_t next;

	buffer_append_char(out, is_object ? '{' : '[');
	for (uint32_t at = json_first(tape, index); at < json_end(tape, index); at = next) {
		uint32_t value = is_object ? at + 1 : at;

		next = is_object ? json_next_key(tape, at) : json_next(tape, at);
		if (value == mistake->token && !mistake->is_schema)
			continue;
		json_write_comma(out);
		if (is_object) {
			json_write_compact(out, tape, at);
			buffer_append_char(out, ':');
		}
		if (value == mistake->token)
			buffer_append_string(out, "{}");
		else if (value < mistake->token && mistake->token < next)
			write_rest(mistake, value, out);
		else
			json_write_compact(out, tape, value);
	}
	buffer_append_char(out, is_object ? '}' : ']');
}

int manifest_mend(struct text_view entry, char *pointer, struct buffer *out)
{
	struct json_tape tape = {0};
	struct mistake mistake = {.tape = &tape};
	enum json_type type;
	int r = json_tape_read(&tape, entry.text, entry.size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0 && find_mistake(pointer, &mistake)) {
		type = json_type_at(&tape, mistake.token);
		mistake.is_schema = mistake.is_schema && type != JSON_OBJECT;
		write_rest(&mistake, 0, out);
		r = buffer_status(out);
	} else if (r >= 0) {
		r = MANIFEST_E_UNMENDABLE;
	}
	json_tape_deinit(&tape);
	return r;
}
