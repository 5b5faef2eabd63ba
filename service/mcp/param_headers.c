/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/param_headers.h"

#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/reader.h"

#define ANNOTATION "x-mcp-header"
#define PREFIX     "Mcp-Param-"

/* The deepest parameter that has a header. */
#define DEPTH_MAX 32

struct check {
	const struct mcp_message *message;
	const struct mcp_fields *fields;
	struct json_tape schema;
	struct mcp_error *error;
};

/* Return whether the header value @text means the argument at @value. */
static bool is_value(const struct json_tape *tape, uint32_t value, const struct buffer *text)
{
	cleanup(json_tape_cleanup) struct json_tape number = {0};
	const char *bytes = buffer_text(text);

	switch (json_type_at(tape, value)) {
	case JSON_STRING:
		return json_string_equals(tape, value, bytes, text->size);
	case JSON_TRUE:
		return text_is(bytes, text->size, "true");
	case JSON_FALSE:
		return text_is(bytes, text->size, "false");
	case JSON_NUMBER:
		return json_tape_read(&number, bytes, text->size, 1, NULL) == 0 &&
		       json_type_at(&number, 0) == JSON_NUMBER &&
		       json_number_compare(json_bytes(tape, value), json_at(tape, value)->length,
			       json_bytes(&number, 0), json_at(&number, 0)->length) == 0;
	default:
		return false;
	}
}

/* Check the header with the name at @annotation against the argument at @value, which may be
 * absent. */
static int check_header(const struct check *check, uint32_t annotation, uint32_t value)
{
	const struct json_tape *tape = &check->message->tape;
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	enum mcp_field_status status;
	bool has_value = value != JSON_NONE && json_type_at(tape, value) != JSON_NULL;

	buffer_append_string(&name, PREFIX);
	json_string_decode(&check->schema, annotation, &name);
	if (!buffer_terminate(&name))
		return -ENOMEM;
	status = mcp_field_read(check->fields, name.data, true, &text);
	if (buffer_status(&text) < 0)
		return -ENOMEM;
	if (!has_value && status == MCP_FIELD_ABSENT)
		return 0;
	if (has_value && status == MCP_FIELD_FOUND && is_value(tape, value, &text))
		return 0;
	return mcp_refuse(check->error, MCP_HEADER_MISMATCH, 400,
		"A header " PREFIX "... is missing, wrong, or not the argument that it repeats.");
}

/* Check the parameters of the schema of an object at @schema against the object at @value
 * (JSON_NONE: absent). Only `properties` lead to a parameter with a header. */
static int check_object(
	const struct check *check, uint32_t schema, uint32_t value, unsigned int depth)
{
	const struct json_tape *tape = &check->schema;
	const struct json_tape *body = &check->message->tape;
	uint32_t properties = json_find_typed_at(tape, schema, "properties", JSON_OBJECT);
	int r = 0;

	if (properties == JSON_NONE || depth > DEPTH_MAX)
		return 0;
	if (value != JSON_NONE && json_type_at(body, value) != JSON_OBJECT)
		value = JSON_NONE;
	json_each_key_while(r == 0, key, tape, properties) {
		cleanup(buffer_deinit) struct buffer name = {0};
		uint32_t argument = JSON_NONE;
		uint32_t annotation;

		if (json_type_at(tape, key + 1) != JSON_OBJECT)
			continue;
		json_string_decode(tape, key, &name);
		if (buffer_status(&name) < 0)
			return -ENOMEM;
		if (value != JSON_NONE)
			argument = json_find_sized(body, value, buffer_text(&name), name.size);
		annotation = json_find_typed_at(tape, key + 1, ANNOTATION, JSON_STRING);
		if (annotation != JSON_NONE)
			r = check_header(check, annotation, argument);
		if (r == 0)
			r = check_object(check, key + 1, argument, depth + 1);
	}
	return r;
}

int mcp_check_param_headers(const struct mcp_message *message, const struct mcp_fields *fields,
	const char *schema, struct mcp_error *ret_error)
{
	struct check check = {.message = message, .fields = fields, .error = ret_error};
	int r;

	if (!strstr(schema, ANNOTATION))
		return 0;
	r = json_tape_read(&check.schema, schema, strlen(schema), JSON_DEPTH_DEFAULT, NULL);
	if (r == 0 && json_type_at(&check.schema, 0) == JSON_OBJECT)
		r = check_object(&check, 0, message->arguments, 0);
	else if (r > 0)
		r = mcp_refuse(ret_error, MCP_INTERNAL_ERROR, 500,
			"The schema of the tool is too deep for its headers.");
	json_tape_deinit(&check.schema);
	return r;
}
