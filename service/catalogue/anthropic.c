/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/anthropic.h"

#include <errno.h>
#include <string.h>

#include "catalogue/model_schema.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/text/text.h"

#define NAME_LETTERS TEXT_ALPHANUMERIC "_.-"

bool anthropic_takes_name(const struct json_tape *tape, uint32_t key)
{
	const char *name = json_bytes(tape, key);
	size_t size = json_at(tape, key)->length;

	if (size == 0 || size > ANTHROPIC_NAME_BYTES)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!memchr(NAME_LETTERS, name[i], strlen(NAME_LETTERS)))
			return false;
	return true;
}

static void add_left_out_name(const struct json_tape *tape, uint32_t key, struct buffer *names)
{
	buffer_append_string(names, names->size > 0 ? ", '" : "'");
	json_string_decode(tape, key, names);
	buffer_append_char(names, '\'');
}

/* Append the members of the object at @object with acceptable keys; add the others to @refused. */
static void write_taken(
	const struct json_tape *tape, uint32_t object, struct buffer *out, struct buffer *refused)
{
	buffer_append_char(out, '{');
	json_each_key(key, tape, object) {
		if (!anthropic_takes_name(tape, key)) {
			add_left_out_name(tape, key, refused);
			continue;
		}
		json_write_member_copy(out, tape, key);
	}
	buffer_append_char(out, '}');
}

/* Add the required names refused by the API to @refused. */
static void find_required(const struct json_tape *tape, struct buffer *refused)
{
	uint32_t required = json_find(tape, 0, "required");

	json_each_found(i, tape, required)
		if (!anthropic_takes_name(tape, i))
			add_left_out_name(tape, i, refused);
}

bool anthropic_write_schema(const char *text, struct buffer *out, struct buffer *ret_refused)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer schema = {0};
	cleanup(buffer_deinit) struct buffer taken = {0};
	const char *written;
	uint32_t properties;
	size_t size;

	model_schema_write(text, &schema);
	if (buffer_status(&schema) < 0 || json_tape_read(&tape, schema.data, schema.size,
						  8 * JSON_DEPTH_DEFAULT, NULL) != 0) {
		out->error = -ENOMEM;
		return true;
	}
	find_required(&tape, ret_refused);
	if (ret_refused->size > 0)
		return false;
	properties = json_find(&tape, 0, "properties");
	written = json_value_text(&tape, properties, &size);
	write_taken(&tape, properties, &taken, ret_refused);
	buffer_append(out, schema.data, (size_t)(written - schema.data));
	buffer_append_buffer(out, &taken);
	buffer_append(out, written + size, (size_t)(schema.data + schema.size - written) - size);
	return true;
}
