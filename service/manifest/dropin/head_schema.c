/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/head_schema.h"

#include "json/writer.h"
#include "manifest/dropin/dropin_scan.h"
#include "manifest/dropin/head_words.h"
#include "util/array.h"

static bool is_type(struct text_view word)
{
	static const char *const types[] = {
		"string", "integer", "number", "boolean", "array", "object"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (text_view_is(word, types[i]))
			return true;
	return false;
}

/* Refuse an unknown type; many languages have other words for types. */
static int refuse_type(struct text_view type, struct buffer *why)
{
	static const char *const others[][2] = {{"int", "integer"}, {"str", "string"},
		{"text", "string"}, {"bool", "boolean"}, {"float", "number"}, {"double", "number"},
		{"list", "array"}, {"dict", "object"}};

	buffer_append_string(why,
		"must be followed by a name and a type: string, integer, number, boolean, array or "
		"object, with '?' when it may be absent");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (text_view_is(type, others[i][0]))
			buffer_printf(why, "; did you mean '%s'?", others[i][1]);
	return DROPIN_E_REFUSED;
}

/* Append the default of a member of type @type, as JSON. */
static int write_default(
	struct text_view type, struct text_view value, struct buffer *out, struct buffer *why)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r;

	buffer_append_string(out, ",\"default\":");
	if (text_view_is(type, "string") && (value.size == 0 || *value.text != '"')) {
		json_write_string(out, value.text, value.size);
		return 0;
	}
	r = json_tape_read(&tape, value.text, value.size, JSON_DEPTH_DEFAULT / 2, NULL);
	if (r > 0) {
		buffer_append_string(why, "has a default after '=', which must be one JSON value");
		return DROPIN_E_REFUSED;
	}
	if (r == 0)
		json_write_compact(out, &tape, 0);
	return r;
}

static void begin_property(struct text_view name, struct text_view type, struct buffer *out)
{
	if (out->size > 0)
		buffer_append_char(out, ',');
	json_write_string(out, name.text, name.size);
	buffer_append_string(out, ":{\"type\":");
	json_write_string(out, type.text, type.size);
}

static void end_property(struct text_view description, struct buffer *out)
{
	if (description.size > 0) {
		buffer_append_string(out, ",\"description\":");
		json_write_string(out, description.text, description.size);
	}
	buffer_append_char(out, '}');
}

static void write_required(struct text_view name, struct buffer *out)
{
	if (out->size > 0)
		buffer_append_char(out, ',');
	json_write_string(out, name.text, name.size);
}

int dropin_schema_add(
	struct dropin_schema *schema, struct text_view line, bool may_default, struct buffer *why)
{
	struct text_view name = words_take_one(&line);
	struct text_view type;
	bool is_optional;
	int r = 0;

	words_skip_spaces(&line);
	type = words_take_letters(&line);
	if (name.size == 0 || !is_type(type) ||
		(line.size > 0 && !words_is_space(*line.text) && *line.text != '?' &&
			*line.text != '='))
		return refuse_type(type, why);
	words_skip_spaces(&line);
	is_optional = words_skip(&line, "?");
	begin_property(name, type, &schema->properties);
	words_skip_spaces(&line);
	if (may_default && words_skip(&line, "=")) {
		is_optional = true;
		words_skip_spaces(&line);
		r = write_default(type, words_take_value(&line), &schema->properties, why);
		words_skip_spaces(&line);
	}
	end_property(line, &schema->properties);
	if (!is_optional)
		write_required(name, &schema->required);
	return r;
}

void dropin_schema_write(const struct dropin_schema *schema, bool is_closed, struct buffer *out)
{
	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{");
	buffer_append(out, schema->properties.data, schema->properties.size);
	buffer_append_char(out, '}');
	if (schema->required.size > 0) {
		buffer_append_string(out, ",\"required\":[");
		buffer_append(out, schema->required.data, schema->required.size);
		buffer_append_char(out, ']');
	}
	if (is_closed)
		buffer_append_string(out, ",\"additionalProperties\":false");
	buffer_append_char(out, '}');
}

int dropin_schema_status(const struct dropin_schema *schema)
{
	int r = buffer_status(&schema->properties);

	return r ? r : buffer_status(&schema->required);
}

void dropin_schema_deinit(struct dropin_schema *schema)
{
	buffer_deinit(&schema->properties);
	buffer_deinit(&schema->required);
}
