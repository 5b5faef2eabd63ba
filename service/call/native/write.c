/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native.h"
#include "json/writer.h"

/* A native function as an object like its source, for the host to read again. */

static void write_text_member(struct buffer *out, const char *key, const char *text)
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

static void write_transfer(const struct native_parameter *parameter, struct buffer *out)
{
	if ((parameter->is_handed && parameter->type != NATIVE_STRUCT) || parameter->free_symbol)
		write_text_member(out, "transfer", parameter->free_symbol ? "full" : "none");
	write_text_member(out, "free", parameter->free_symbol);
}

static const struct native_parameter *parameter_at(
	const struct native_function *function, int index)
{
	return index == NATIVE_RETURNS ? &function->returns : &function->parameters[index];
}

static void write_name_of(
	struct buffer *out, const char *key, const struct native_function *function, int index)
{
	if (index != NATIVE_NONE)
		write_text_member(out, key, parameter_at(function, index)->name);
}

/* Write the size of a buffer of the function as a list of factors. */
static void write_size(const struct native_function *function,
	const struct native_parameter *parameter, struct buffer *out)
{
	const struct native_size *size = &parameter->size;

	if (size->number == 0)
		return;
	buffer_append_string(out, ",\"size\":[");
	for (size_t i = 0; i < size->n_from; i++) {
		json_write_text(out, parameter_at(function, size->from[i])->name);
		buffer_append_char(out, ',');
	}
	if (size->number > 1 || size->n_from == 0)
		json_write_u64(out, size->number);
	else
		out->size--;
	buffer_append_char(out, ']');
}

static void write_capacity(const struct native_function *function,
	const struct native_parameter *parameter, struct buffer *out)
{
	write_name_of(out, "capacity", function, parameter->capacity_from);
	if (parameter->capacity_from != NATIVE_NONE || parameter->capacity == 0)
		return;
	buffer_append_string(out, ",\"capacity\":");
	json_write_u64(out, parameter->capacity);
}

void native_write_type(const struct native_parameter *parameter, struct buffer *out)
{
	json_write_key(out, "type");
	json_write_text(out, native_parameter_word(parameter));
	if (parameter->type == NATIVE_ARRAY)
		write_text_member(out, "items", native_type_name(parameter->items));
	if (parameter->type == NATIVE_STRUCT)
		write_text_member(out, "struct", parameter->structure->name);
	if (parameter->is_by_value || (parameter->type == NATIVE_STRUCT && parameter->is_handed))
		write_text_member(out, "by", parameter->is_by_value ? "value" : "pointer");
	if (!parameter->enumeration)
		return;
	write_text_member(out, "enum", parameter->enumeration->name);
	write_text_member(out, "base", native_type_name(parameter->type));
}

static void write_parameter(const struct native_function *function,
	const struct native_parameter *parameter, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, parameter->name);
	buffer_append_char(out, ',');
	native_write_type(parameter, out);
	if (parameter->direction != NATIVE_IN)
		write_text_member(out, "dir", native_direction_name(parameter->direction));
	write_text_member(out, "description", parameter->description);
	write_json_member(out, "nullable", parameter->is_nullable ? "true" : NULL);
	write_json_member(out, "format", parameter->is_format ? "true" : NULL);
	write_json_member(out, "schema", parameter->schema_json);
	write_json_member(out, "default", parameter->default_json);
	write_json_member(out, "value", parameter->value_json);
	write_name_of(out, "length_of", function, parameter->length_of);
	write_capacity(function, parameter, out);
	write_size(function, parameter, out);
	write_transfer(parameter, out);
	buffer_append_char(out, '}');
}

static void write_errors(const struct native_function *function, struct buffer *out)
{
	bool is_number = function->errors == NATIVE_ERRORS_EQUALS ||
			 function->errors == NATIVE_ERRORS_NOT_EQUALS;

	if (!is_number) {
		write_text_member(out, "errors", native_errors_name(function->errors));
		return;
	}
	buffer_printf(out, ",\"errors\":{\"%s\":", native_errors_name(function->errors));
	if (native_is_signed(function->returns.type))
		json_write_i64(out, (int64_t)function->errors_number);
	else
		json_write_u64(out, function->errors_number);
	buffer_append_char(out, '}');
}

static void write_returns(const struct native_function *function, struct buffer *out)
{
	const struct native_parameter *returns = &function->returns;

	buffer_append_char(out, '{');
	native_write_type(returns, out);
	if (function->drops_returned)
		write_json_member(out, "name", "null");
	else if (returns->type != NATIVE_VOID)
		write_text_member(out, "name", returns->name);
	write_text_member(out, "description", returns->description);
	write_json_member(out, "nullable", returns->is_nullable ? "true" : NULL);
	write_json_member(out, "schema", returns->schema_json);
	write_name_of(out, "length_of", function, returns->length_of);
	write_size(function, returns, out);
	write_transfer(returns, out);
	write_errors(function, out);
	buffer_append_char(out, '}');
}

static void write_number_member(struct buffer *out, const char *key, size_t number)
{
	buffer_append_char(out, ',');
	json_write_key(out, key);
	json_write_u64(out, number);
}

static void write_field_entry(const struct native_field *field, struct buffer *out)
{
	buffer_append_string(out, "{\"name\":");
	json_write_text(out, field->value.name);
	buffer_append_char(out, ',');
	native_write_type(&field->value, out);
	write_text_member(out, "description", field->value.description);
	if (field->count > 0)
		write_number_member(out, "count", field->count);
	write_json_member(out, "required", field->is_required ? "true" : NULL);
	write_json_member(out, "nullable", field->value.is_nullable ? "true" : NULL);
	buffer_append_char(out, '}');
}

static void write_struct_table(const struct native_struct *structure, struct buffer *out)
{
	json_write_key(out, structure->name);
	buffer_append_string(out, "{\"fields\":[");
	for (size_t i = 0; i < structure->n_fields; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		write_field_entry(&structure->fields[i], out);
	}
	buffer_append_char(out, ']');
	if (structure->has_size)
		write_number_member(out, "size", structure->size);
	write_json_member(out, "partial", structure->is_partial ? "true" : NULL);
	buffer_append_char(out, '}');
}

static void write_enum_table(const struct native_enum *enumeration, struct buffer *out)
{
	json_write_key(out, enumeration->name);
	for (size_t i = 0; i < enumeration->n_values; i++) {
		const struct native_named *named = &enumeration->values[i];

		buffer_append_char(out, i > 0 ? ',' : '{');
		json_write_key(out, named->name);
		if (named->is_negative)
			json_write_i64(out, (int64_t)named->bits);
		else
			json_write_u64(out, named->bits);
	}
	buffer_append_char(out, '}');
}

void native_types_write(const struct native_types *types, struct buffer *out)
{
	for (size_t i = 0; i < types->n_enums; i++) {
		buffer_append_string(out, i == 0 ? ",\"enums\":{" : ",");
		write_enum_table(&types->enums[i], out);
	}
	buffer_append_string(out, types->n_enums > 0 ? "}" : "");
	for (size_t i = 0; i < types->n_structs; i++) {
		buffer_append_string(out, i == 0 ? ",\"structs\":{" : ",");
		write_struct_table(&types->structs[i], out);
	}
	buffer_append_string(out, types->n_structs > 0 ? "}" : "");
}

void native_write(const struct native_function *function, struct buffer *out)
{
	buffer_append_string(out, "{\"symbol\":");
	json_write_text(out, function->symbol);
	buffer_append_string(out, ",\"parameters\":[");
	for (size_t i = 0; i < function->n_parameters; i++) {
		if (i > 0)
			buffer_append_char(out, ',');
		write_parameter(function, &function->parameters[i], out);
	}
	buffer_append_string(out, "],\"returns\":");
	write_returns(function, out);
	if (function->is_variadic)
		write_number_member(out, "variadic", function->n_fixed);
	buffer_append_char(out, '}');
}
