/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/native.h"

#include "json/writer.h"

/*
 * A native function as JSON: the schemas that are made from it where a manifest gives none, and the
 * object it was read from.
 */

/* The bounds that stand in a schema: of integers up to 32 bits. Wider ones are checked by
 * native_refusal alone, since many readers of schemas round what is beyond 2^53. */
static const struct {
	enum native_type type;
	int64_t least;
	int64_t most;
} bounds[] = {
	{NATIVE_I8, INT8_MIN, INT8_MAX},
	{NATIVE_I16, INT16_MIN, INT16_MAX},
	{NATIVE_I32, INT32_MIN, INT32_MAX},
	{NATIVE_U8, 0, UINT8_MAX},
	{NATIVE_U16, 0, UINT16_MAX},
	{NATIVE_U32, 0, UINT32_MAX},
};

static const char *schema_type_name(enum native_type type)
{
	switch (type) {
	case NATIVE_BOOL:
		return "boolean";
	case NATIVE_F32:
	case NATIVE_F64:
		return "number";
	case NATIVE_STR:
		return "string";
	default:
		return "integer";
	}
}

static void write_member(struct buffer *out, const char *key, const char *text)
{
	if (!text)
		return;
	buffer_append_char(out, ',');
	json_write_key(out, key);
	json_write_text(out, text);
}

static void write_json_member(struct buffer *out, const char *key, const char *json)
{
	if (!json)
		return;
	buffer_append_char(out, ',');
	json_write_key(out, key);
	buffer_append_string(out, json);
}

static void write_bounds(struct buffer *out, enum native_type type)
{
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		if (bounds[i].type != type)
			continue;
		buffer_append_string(out, ",\"minimum\":");
		json_write_i64(out, bounds[i].least);
		buffer_append_string(out, ",\"maximum\":");
		json_write_i64(out, bounds[i].most);
	}
}

static void write_property(struct buffer *out, const char *name, enum native_type type,
	bool is_nullable, const char *description, const char *default_json)
{
	json_write_text(out, name);
	buffer_append_string(out, is_nullable ? ":{\"type\":[\"" : ":{\"type\":\"");
	buffer_append_string(out, schema_type_name(type));
	buffer_append_string(out, is_nullable ? "\",\"null\"]" : "\"");
	write_member(out, "description", description);
	write_json_member(out, "default", default_json);
	write_bounds(out, type);
	buffer_append_char(out, '}');
}

static bool is_required(const struct native_parameter *parameter)
{
	return !parameter->value_json && !parameter->default_json && !parameter->is_nullable;
}

static void write_required(const struct native_function *function, struct buffer *out)
{
	bool is_open = false;

	for (size_t i = 0; i < function->n_parameters; i++) {
		if (!is_required(&function->parameters[i]))
			continue;
		buffer_append_string(out, is_open ? "," : ",\"required\":[");
		json_write_text(out, function->parameters[i].name);
		is_open = true;
	}
	if (is_open)
		buffer_append_char(out, ']');
}

void native_write_argument_schema(const struct native_function *function, struct buffer *out)
{
	bool is_first = true;

	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct native_parameter *parameter = &function->parameters[i];

		if (parameter->value_json)
			continue;
		if (!is_first)
			buffer_append_char(out, ',');
		is_first = false;
		write_property(out, parameter->name, parameter->type, parameter->is_nullable,
			parameter->description, parameter->default_json);
	}
	buffer_append_char(out, '}');
	write_required(function, out);
	buffer_append_string(out, ",\"additionalProperties\":false}");
}

void native_write_output_schema(const struct native_function *function, struct buffer *out)
{
	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{");
	if (function->return_type == NATIVE_VOID) {
		buffer_append_string(out, "}}");
		return;
	}
	write_property(out, function->return_name, function->return_type,
		function->return_is_nullable, function->return_description, NULL);
	buffer_append_char(out, '}');
	if (!function->return_is_nullable) {
		buffer_append_string(out, ",\"required\":[");
		json_write_text(out, function->return_name);
		buffer_append_char(out, ']');
	}
	buffer_append_char(out, '}');
}

static void write_parameter(const struct native_parameter *parameter, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, parameter->name);
	write_member(out, "type", native_type_name(parameter->type));
	write_member(out, "description", parameter->description);
	write_json_member(out, "nullable", parameter->is_nullable ? "true" : NULL);
	write_json_member(out, "default", parameter->default_json);
	write_json_member(out, "value", parameter->value_json);
	buffer_append_char(out, '}');
}

static void write_returns(const struct native_function *function, struct buffer *out)
{
	buffer_append_string(out, "{\"type\":");
	json_write_text(out, native_type_name(function->return_type));
	if (function->return_type != NATIVE_VOID)
		write_member(out, "name", function->return_name);
	write_member(out, "description", function->return_description);
	write_json_member(out, "nullable", function->return_is_nullable ? "true" : NULL);
	if (function->free_symbol)
		write_member(out, "transfer", "full");
	write_member(out, "free", function->free_symbol);
	write_member(out, "errors", native_errors_name(function->errors));
	buffer_append_char(out, '}');
}

void native_write(const struct native_function *function, struct buffer *out)
{
	buffer_append_string(out, "{\"symbol\":");
	json_write_text(out, function->symbol);
	buffer_append_string(out, ",\"parameters\":[");
	for (size_t i = 0; i < function->n_parameters; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		write_parameter(&function->parameters[i], out);
	}
	buffer_append_string(out, "],\"returns\":");
	write_returns(function, out);
	buffer_append_char(out, '}');
}
