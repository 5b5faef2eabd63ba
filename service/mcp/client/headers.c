/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/headers.h"

#include <strings.h>

#include "mcp/client/keyword.h"
#include "mcp/header_value.h"
#include "json/member.h"
#include "util/stringify.h"
#include "util/text/text.h"

#define ANNOTATION "x-mcp-header"

#define NAME_BYTES 128 /* the longest name of a header */

/* ── the headers of a request ────────────────────────────────────────────────────────────────── */

static void write_header(struct buffer *out, const char *name, const char *value, size_t size)
{
	buffer_append_string(out, name);
	buffer_append_string(out, ": ");
	mcp_field_write(value, size, out);
	buffer_append_char(out, '\n');
}

void mcp_write_headers(
	struct buffer *out, const char *version, const char *method, struct text_view name)
{
	write_header(out, "MCP-Protocol-Version", version, strlen(version));
	if (method)
		write_header(out, "Mcp-Method", method, strlen(method));
	if (name.text)
		write_header(out, "Mcp-Name", name.text, name.size);
}

/* Append the header with the name at @annotation for the argument at @value. */
static void write_param(struct buffer *out, const struct json_tape *schema_tape,
	uint32_t annotation, const struct json_tape *tape, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&name, "Mcp-Param-");
	json_string_decode(schema_tape, annotation, &name);
	if (json_type_at(tape, value) == JSON_STRING)
		json_string_decode(tape, value, &text);
	else
		buffer_append(&text, json_bytes(tape, value), json_at(tape, value)->length);
	buffer_fail_with(out, &text);
	if (buffer_terminate(&name))
		write_header(out, name.data, buffer_text(&text), text.size);
	buffer_fail_with(out, &name);
}

void mcp_write_param_headers(struct buffer *out, const struct json_tape *schema_tape,
	uint32_t schema, const struct json_tape *tape, uint32_t arguments)
{
	uint32_t properties = json_find_typed(schema_tape, schema, "properties", JSON_OBJECT);

	if (properties == JSON_NONE || json_type_at(tape, arguments) != JSON_OBJECT)
		return;
	json_each_key(key, schema_tape, properties) {
		cleanup(buffer_deinit) struct buffer name = {0};
		uint32_t value;
		uint32_t annotation;

		if (json_type_at(schema_tape, key + 1) != JSON_OBJECT)
			continue;
		json_string_decode(schema_tape, key, &name);
		buffer_fail_with(out, &name);
		value = json_find_sized(tape, arguments, buffer_text(&name), name.size);
		if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL)
			continue;
		annotation = json_find_typed(schema_tape, key + 1, ANNOTATION, JSON_STRING);
		if (annotation == JSON_NONE)
			mcp_write_param_headers(out, schema_tape, key + 1, tape, value);
		else if (json_type_at(tape, value) != JSON_OBJECT &&
			 json_type_at(tape, value) != JSON_ARRAY)
			write_param(out, schema_tape, annotation, tape, value);
	}
}

/* ── the check of a schema ───────────────────────────────────────────────────────────────────── */

struct check {
	const struct json_tape *tape;
	uint32_t names[MCP_PARAM_HEADERS_MAX]; /* the annotations so far */
	unsigned int n_names;
	const char *reason;
};

/* Return whether @c may be in the name of a header (RFC 9110, 5.6.2). */
static bool is_token_char(char c)
{
	return text_is_alphanumeric(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* Names are plain ASCII here, so their bytes are their text. */
static bool is_known_name(const struct check *check, uint32_t annotation)
{
	const struct json_token *name = json_at(check->tape, annotation);

	for (unsigned int i = 0; i < check->n_names; i++)
		if (json_at(check->tape, check->names[i])->length == name->length &&
			strncasecmp(json_bytes(check->tape, check->names[i]),
				json_bytes(check->tape, annotation), name->length) == 0)
			return true;
	return false;
}

static const char *judge_name(struct check *check, uint32_t annotation)
{
	const struct json_token *name = json_at(check->tape, annotation);

	if (name->type != JSON_STRING || name->length == 0 || name->length > NAME_BYTES)
		return "an x-mcp-header is no name of 1 to " STRINGIFY(NAME_BYTES) " characters";
	/* An escape has a backslash, which no name has. */
	for (uint32_t i = 0; i < name->length; i++)
		if (!is_token_char(json_bytes(check->tape, annotation)[i]))
			return "an x-mcp-header has a character that no name of a header may have";
	if (is_known_name(check, annotation))
		return "two parameters have the same x-mcp-header";
	if (check->n_names == MCP_PARAM_HEADERS_MAX)
		return "more than " STRINGIFY(
			MCP_PARAM_HEADERS_MAX) " parameters have an x-mcp-header";
	check->names[check->n_names++] = annotation;
	return NULL;
}

/* Judge the annotation of the schema at @schema. @is_reachable: only `properties` lead to it. */
static const char *judge_annotation(
	struct check *check, uint32_t schema, uint32_t annotation, bool is_reachable)
{
	uint32_t type = json_find(check->tape, schema, "type");

	if (!is_reachable)
		return "an x-mcp-header is not at a parameter";
	if (!json_is_text(check->tape, type, "string") &&
		!json_is_text(check->tape, type, "integer") &&
		!json_is_text(check->tape, type, "boolean"))
		return "a parameter with an x-mcp-header is no string, integer or boolean";
	return judge_name(check, annotation);
}

/* Check all annotations at @value and below. @is_map: its members are schemas. */
static void check_value(struct check *check, uint32_t value, bool is_map, bool is_reachable)
{
	const struct json_tape *tape = check->tape;
	uint32_t annotation = JSON_NONE;

	if (json_type_at(tape, value) == JSON_ARRAY)
		json_each(at, tape, value)
			check_value(check, at, false, false);
	if (json_type_at(tape, value) != JSON_OBJECT)
		return;
	if (!is_map)
		annotation = json_find(tape, value, ANNOTATION);
	if (annotation != JSON_NONE && !check->reason)
		check->reason = judge_annotation(check, value, annotation, is_reachable);
	json_each_key_while(!check->reason, key, tape, value) {
		enum mcp_keyword keyword = is_map ? MCP_KEYWORD_OTHER : mcp_keyword_at(tape, key);

		if (keyword != MCP_KEYWORD_DATA)
			check_value(check, key + 1, keyword == MCP_KEYWORD_MAP,
				is_reachable && (is_map || json_is_text(tape, key, "properties")));
	}
}

const char *mcp_judge_param_headers(const struct json_tape *tape, uint32_t schema)
{
	struct check check = {.tape = tape};

	check_value(&check, schema, false, true);
	return check.reason;
}
