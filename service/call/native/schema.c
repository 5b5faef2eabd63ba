/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "call/native.h"
#include "json/writer.h"
#include "util/array.h"

/*
 * The schemas made from a native function where a manifest gives none, and whether a given schema
 * can be meant for the same function.
 */

/* The bounds in a schema: of integers up to 32 bits. Wider ones are checked by native_check_value()
 * alone, since many readers of schemas round numbers beyond 2^53. */
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

static const char *type_word_of(enum native_type type)
{
	switch (type) {
	case NATIVE_BOOL:
		return "boolean";
	case NATIVE_F32:
	case NATIVE_F64:
		return "number";
	case NATIVE_STR:
	case NATIVE_BYTES:
		return "string";
	case NATIVE_STRV:
	case NATIVE_ARRAY:
		return "array";
	case NATIVE_STRUCT:
		return "object";
	case NATIVE_JSON:
		return NULL;
	default:
		return "integer";
	}
}

/* Return the word of an argument in a schema: names in the place of numbers. */
static const char *type_word(const struct native_parameter *parameter)
{
	if (!parameter->enumeration)
		return type_word_of(parameter->type);
	return parameter->is_flags ? "array" : "string";
}

const char *native_schema_word(const struct native_parameter *parameter)
{
	return type_word(parameter);
}

bool native_allows_word(const struct native_parameter *parameter, const char *word, size_t size)
{
	const char *own = type_word(parameter);
	bool is_number = own && (strcmp(own, "integer") == 0 || strcmp(own, "number") == 0);
	const char *const allowed[] = {own, parameter->is_nullable ? "null" : own,
		is_number ? "integer" : own, is_number ? "number" : own};

	if (!own)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (text_is(word, size, allowed[i]))
			return true;
	return false;
}

/* Return whether the text has more bytes than a schema may have. Structs in one another multiply,
 * so all writing ends then; the reader of the manifest refuses the text by its size. */
static bool is_full(const struct buffer *out)
{
	return out->size > NATIVE_SCHEMA_BYTES_MAX;
}

/* End an object. Each member has a comma after it; remove the last one. */
static void end_object(struct buffer *out)
{
	if (buffer_status(out) == 0 && out->data[out->size - 1] == ',')
		out->size--;
	buffer_append_char(out, '}');
}

static void write_text_member(struct buffer *out, const char *key, const char *text)
{
	if (!text)
		return;
	json_write_key(out, key);
	json_write_text(out, text);
	buffer_append_char(out, ',');
}

static void write_json_member(struct buffer *out, const char *key, const char *json)
{
	if (!json)
		return;
	json_write_key(out, key);
	buffer_append_string(out, json);
	buffer_append_char(out, ',');
}

static void write_bounds(struct buffer *out, enum native_type type)
{
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		if (bounds[i].type != type)
			continue;
		buffer_append_string(out, "\"minimum\":");
		json_write_i64(out, bounds[i].least);
		buffer_append_string(out, ",\"maximum\":");
		json_write_i64(out, bounds[i].most);
		buffer_append_char(out, ',');
	}
}

static void write_type(struct buffer *out, const struct native_parameter *parameter)
{
	const char *word = type_word(parameter);

	if (word && parameter->is_nullable)
		buffer_printf(out, "\"type\":[\"%s\",\"null\"],", word);
	else if (word)
		write_text_member(out, "type", word);
}

/* Write the given schema of a json: the members of the object (its text without the braces),
 * unchanged. */
static void write_given(struct buffer *out, const struct native_parameter *parameter)
{
	const char *schema = parameter->schema_json;
	size_t size = schema ? strlen(schema) : 0;

	if (size <= strlen("{}"))
		return;
	if (parameter->is_nullable) {
		buffer_printf(out, "\"anyOf\":[%s,{\"type\":\"null\"}],", schema);
		return;
	}
	buffer_append(out, schema + 1, size - strlen("{}"));
	buffer_append_char(out, ',');
}

static void write_items(struct buffer *out, enum native_type items)
{
	buffer_append_string(out, "\"items\":{");
	write_text_member(out, "type", type_word_of(items));
	write_bounds(out, items);
	end_object(out);
	buffer_append_char(out, ',');
}

static void write_name_list(struct buffer *out, const struct native_parameter *parameter)
{
	buffer_append_string(out, "\"enum\":");
	for (size_t i = 0; i < parameter->enumeration->n_values; i++) {
		buffer_append_char(out, i > 0 ? ',' : '[');
		json_write_text(out, parameter->enumeration->values[i].name);
	}
	if (parameter->is_nullable && !parameter->is_flags)
		buffer_append_string(out, ",null");
	buffer_append_string(out, "],");
}

/* Write the names of an enum. A result may be a number without a name, too. */
static void write_named(
	struct buffer *out, const struct native_parameter *parameter, bool is_argument)
{
	if (!is_argument)
		buffer_append_string(out, "\"anyOf\":[{");
	write_type(out, parameter);
	write_name_list(out, parameter);
	if (is_argument)
		return;
	end_object(out);
	buffer_append_string(out, ",{\"type\":\"integer\"}],");
}

/* Write flags: an array of names, with the bits without a name as a last element. */
static void write_flags(struct buffer *out, const struct native_parameter *parameter)
{
	write_type(out, parameter);
	buffer_append_string(out, "\"items\":{\"anyOf\":[{\"type\":\"string\",");
	write_name_list(out, parameter);
	end_object(out);
	buffer_append_string(out,
		",{\"type\":\"object\",\"properties\":{\"unknown\":{\"type\":\"integer\","
		"\"minimum\":0}},\"required\":[\"unknown\"],\"additionalProperties\":false}]},"
		"\"uniqueItems\":true,");
}

/* Write the schema of a field. A field with a `count` is an array, but for text and bytes. */
static void write_field_schema(
	struct buffer *out, const struct native_field *field, bool is_argument)
{
	bool is_array = field->count > 0 && !native_is_buffer(field->value.type);

	json_write_text(out, field->value.name);
	buffer_append_string(out, ":{");
	if (is_array)
		buffer_append_string(out, "\"type\":\"array\",\"items\":{");
	native_write_value_schema(&field->value, is_argument, out);
	end_object(out);
	if (is_array)
		buffer_printf(out, ",\"maxItems\":%zu}", field->count);
	buffer_append_char(out, ',');
}

/* Write the members of a struct's schema. A handle is in no value. */
static void write_struct(
	struct buffer *out, const struct native_struct *structure, bool is_argument)
{
	char before = '[';

	buffer_append_string(out, "\"properties\":{");
	for (size_t i = 0; i < structure->n_fields && !is_full(out); i++)
		if (structure->fields[i].value.type != NATIVE_HANDLE)
			write_field_schema(out, &structure->fields[i], is_argument);
	end_object(out);
	buffer_append_char(out, ',');
	for (size_t i = 0; i < structure->n_fields && !is_full(out); i++) {
		const struct native_field *field = &structure->fields[i];

		if (is_argument ? !field->is_required
				: field->value.is_nullable || field->value.type == NATIVE_HANDLE)
			continue;
		buffer_append_string(out, before == '[' ? "\"required\":[" : ",");
		json_write_text(out, field->value.name);
		before = ',';
	}
	buffer_append_string(out, before == ',' ? "]," : "");
	if (is_argument)
		buffer_append_string(out, "\"additionalProperties\":false,");
}

void native_write_value_schema(
	const struct native_parameter *parameter, bool is_argument, struct buffer *out)
{
	if (!parameter->enumeration)
		write_type(out, parameter);
	else if (parameter->is_flags)
		write_flags(out, parameter);
	else
		write_named(out, parameter, is_argument);
	write_given(out, parameter);
	write_text_member(out, "description", parameter->description);
	if (parameter->type == NATIVE_BYTES)
		write_text_member(out, "contentEncoding", "base64");
	if (parameter->type == NATIVE_ARRAY)
		write_items(out, parameter->items);
	if (parameter->type == NATIVE_STRUCT)
		write_struct(out, parameter->structure, is_argument);
	if (parameter->type == NATIVE_STRV)
		write_json_member(out, "items", "{\"type\":\"string\"}");
	write_json_member(out, "default", is_argument ? parameter->default_json : NULL);
	if (!parameter->enumeration)
		write_bounds(out, parameter->type);
}

static void write_property(
	struct buffer *out, const struct native_parameter *parameter, bool is_argument)
{
	json_write_text(out, parameter->name);
	buffer_append_string(out, ":{");
	native_write_value_schema(parameter, is_argument, out);
	end_object(out);
	buffer_append_char(out, ',');
}

/* One object with all of @members. Only what callers pass has defaults. */
static void write_object(struct buffer *out, const struct native_parameter *const *members,
	size_t count, bool are_arguments)
{
	bool is_open = false;

	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < count && !is_full(out); i++)
		write_property(out, members[i], are_arguments);
	end_object(out);
	for (size_t i = 0; i < count; i++) {
		if (members[i]->is_nullable || (are_arguments && members[i]->default_json))
			continue;
		buffer_append_string(out, is_open ? "," : ",\"required\":[");
		json_write_text(out, members[i]->name);
		is_open = true;
	}
	buffer_append_string(out, is_open ? "]" : "");
	buffer_append_string(out, are_arguments ? ",\"additionalProperties\":false}" : "}");
}

void native_write_argument_schema(const struct native_function *function, struct buffer *out)
{
	const struct native_parameter *members[NATIVE_PARAMETERS_MAX];

	write_object(out, members, native_list_arguments(function, members), true);
}

void native_write_output_schema(const struct native_function *function, struct buffer *out)
{
	const struct native_parameter *members[NATIVE_RESULTS_MAX];

	write_object(out, members, native_list_results(function, members), false);
}
