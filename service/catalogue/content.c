/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/content.h"

#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"

/* Embedded schemas/content.schema.json. */
extern const char content_schema_json[];

/* The `$id` of an author's schema without one of its own. */
static const char author_id[] = "urn:toolboxd:structured";

static bool read_schema(const char *text, struct json_tape *tape, struct buffer *out)
{
	if (json_tape_read(tape, text, strlen(text), 2 * JSON_DEPTH_DEFAULT, NULL) == 0)
		return true;
	out->error = -ENOMEM;
	return false;
}

/* Append the author's schema @text with an `$id`, so no reference leaves the schema. */
static void write_author(const char *text, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (!read_schema(text, &tape, out))
		return;
	if (json_type_at(&tape, 0) != JSON_OBJECT || json_find(&tape, 0, "$id") != JSON_NONE) {
		buffer_append_string(out, text);
		return;
	}
	buffer_printf(out, "{\"$id\":\"%s\"", author_id);
	json_each_key(key, &tape, 0)
		json_write_member_copy(out, &tape, key);
	buffer_append_char(out, '}');
}

/* Append the properties at @object with the author's schema @structured. */
static void write_properties(
	const struct json_tape *tape, uint32_t object, const char *structured, struct buffer *out)
{
	uint32_t first = json_first(tape, object);

	buffer_append_char(out, '{');
	for (uint32_t key = first; key < json_end(tape, object); key = json_next_key(tape, key)) {
		if (!json_is_text(tape, key, "structured")) {
			json_write_member_copy(out, tape, key);
			continue;
		}
		buffer_append_string(out, ",\"structured\":{\"allOf\":[");
		write_author(structured, out);
		buffer_append_string(out, "]}");
	}
	buffer_append_char(out, '}');
}

void content_schema_write(const char *structured, struct buffer *out)
{
	static const char *const names[] = {"$schema", "$id", "title", "description"};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (!read_schema(content_schema_json, &tape, out))
		return;
	buffer_append_char(out, '{');
	json_each_key(key, &tape, 0) {
		bool is_named = false;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			is_named = is_named || json_is_text(&tape, key, names[i]);
		if (is_named)
			continue;
		if (structured && json_is_text(&tape, key, "required")) {
			buffer_append_string(out, ",\"required\":[\"content\",\"structured\"]");
		} else if (structured && json_is_text(&tape, key, "properties")) {
			buffer_append_string(out, ",\"properties\":");
			write_properties(&tape, key + 1, structured, out);
		} else {
			json_write_member_copy(out, &tape, key);
		}
	}
	buffer_append_char(out, '}');
}

bool content_schema_read(const char *schema, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t author;

	if (!read_schema(schema, &tape, out))
		return false;
	author = json_find(&tape, json_find(&tape, 0, "properties"), "structured");
	author = json_find(&tape, author, "allOf");
	if (author == JSON_NONE)
		return false;
	author = json_first(&tape, author);
	if (json_type_at(&tape, author) != JSON_OBJECT) {
		json_write_compact(out, &tape, author);
		return true;
	}
	buffer_append_char(out, '{');
	json_each_key(key, &tape, author) {
		if (json_is_text(&tape, key, "$id") && json_is_text(&tape, key + 1, author_id))
			continue;
		json_write_member_copy(out, &tape, key);
	}
	buffer_append_char(out, '}');
	return true;
}
