/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The facts of each type, and the ownership of the parts of a function. */

/* The sizes and ranges of the types. For a buffer, `bytes` is the size of an element; the elements
 * of an array have the size of its items. */
static const struct {
	const char *name;
	size_t bytes;
	uint64_t most; /* the greatest value of an integer */
	bool is_signed;
} facts[NATIVE_N_TYPES] = {
	[NATIVE_VOID] = {"void", 0, 0, false},
	[NATIVE_BOOL] = {"bool", sizeof(bool), 0, false},
	[NATIVE_I8] = {"i8", sizeof(int8_t), INT8_MAX, true},
	[NATIVE_I16] = {"i16", sizeof(int16_t), INT16_MAX, true},
	[NATIVE_I32] = {"i32", sizeof(int32_t), INT32_MAX, true},
	[NATIVE_I64] = {"i64", sizeof(int64_t), INT64_MAX, true},
	[NATIVE_U8] = {"u8", sizeof(uint8_t), UINT8_MAX, false},
	[NATIVE_U16] = {"u16", sizeof(uint16_t), UINT16_MAX, false},
	[NATIVE_U32] = {"u32", sizeof(uint32_t), UINT32_MAX, false},
	[NATIVE_U64] = {"u64", sizeof(uint64_t), UINT64_MAX, false},
	[NATIVE_ISIZE] = {"isize", sizeof(ssize_t), INTPTR_MAX, true},
	[NATIVE_USIZE] = {"usize", sizeof(size_t), SIZE_MAX, false},
	[NATIVE_F32] = {"f32", sizeof(float), 0, true},
	[NATIVE_F64] = {"f64", sizeof(double), 0, true},
	[NATIVE_HANDLE] = {"handle", sizeof(void *), 0, false},
	[NATIVE_STRV] = {"strv", sizeof(char *), 0, false},
	[NATIVE_STRUCT] = {"struct", 0, 0, false},
	[NATIVE_STR] = {"str", 1, 0, false},
	[NATIVE_BYTES] = {"bytes", 1, 0, false},
	[NATIVE_JSON] = {"json", 1, 0, false},
	[NATIVE_ARRAY] = {"array", 0, 0, false},
};

const char *native_type_name(enum native_type type)
{
	return facts[type].name;
}

const char *native_parameter_word(const struct native_parameter *parameter)
{
	if (!parameter->enumeration)
		return facts[parameter->type].name;
	return parameter->is_flags ? "flags" : "enum";
}

const char *native_direction_name(enum native_direction direction)
{
	static const char *const names[] = {"in", "out", "inout"};

	return names[direction];
}

const char *native_errors_name(enum native_errors errors)
{
	static const char *const names[] = {
		[NATIVE_ERRORS_NONE] = "none",
		[NATIVE_ERRORS_NEGATIVE] = "negative",
		[NATIVE_ERRORS_NONZERO] = "nonzero",
		[NATIVE_ERRORS_ZERO] = "zero",
		[NATIVE_ERRORS_NULL] = "null",
		[NATIVE_ERRORS_ERRNO] = "errno",
		[NATIVE_ERRORS_EQUALS] = "equals",
		[NATIVE_ERRORS_NOT_EQUALS] = "not_equals",
		[NATIVE_ERRORS_GERROR] = "gerror",
	};

	return names[errors];
}

bool native_is_integer(enum native_type type)
{
	return facts[type].most > 0;
}

bool native_is_signed(enum native_type type)
{
	return facts[type].is_signed;
}

bool native_is_buffer(enum native_type type)
{
	return type >= NATIVE_STR;
}

bool native_is_text(enum native_type type)
{
	return type == NATIVE_STR || type == NATIVE_JSON;
}

bool native_is_pointer(enum native_type type)
{
	return type >= NATIVE_HANDLE;
}

size_t native_type_bytes(enum native_type type)
{
	return facts[type].bytes;
}

size_t native_element_bytes(const struct native_parameter *buffer)
{
	if (buffer->type == NATIVE_STRUCT)
		return buffer->structure->size;
	return facts[buffer->type == NATIVE_ARRAY ? buffer->items : buffer->type].bytes;
}

uint64_t native_integer_most(enum native_type type)
{
	return facts[type].most;
}

uint64_t native_integer_mask(enum native_type type)
{
	return facts[type].is_signed ? 2 * facts[type].most + 1 : facts[type].most;
}

enum native_type native_promoted(enum native_type type)
{
	if (type == NATIVE_F32)
		return NATIVE_F64;
	if (type == NATIVE_BOOL || (native_is_integer(type) && facts[type].bytes < sizeof(int)))
		return NATIVE_I32;
	return type;
}

bool native_is_result(const struct native_parameter *parameter)
{
	return parameter->direction != NATIVE_IN && parameter->length_of == NATIVE_NONE;
}

size_t native_list_arguments(
	const struct native_function *function, const struct native_parameter **ret_list)
{
	size_t count = 0;

	for (size_t i = 0; i < function->n_parameters; i++)
		if (native_is_argument(&function->parameters[i]))
			ret_list[count++] = &function->parameters[i];
	return count;
}

size_t native_list_results(
	const struct native_function *function, const struct native_parameter **ret_list)
{
	size_t count = 0;

	if (native_has_returned(function))
		ret_list[count++] = &function->returns;
	for (size_t i = 0; i < function->n_parameters; i++)
		if (native_is_result(&function->parameters[i]))
			ret_list[count++] = &function->parameters[i];
	return count;
}

static void parameter_deinit(struct native_parameter *parameter)
{
	free(parameter->name);
	free(parameter->description);
	free(parameter->default_json);
	free(parameter->value_json);
	free(parameter->schema_json);
	free(parameter->free_symbol);
}

static void enum_deinit(struct native_enum *enumeration)
{
	for (size_t i = 0; i < enumeration->n_values; i++) {
		free(enumeration->values[i].name);
		free(enumeration->values[i].c);
	}
	free(enumeration->values);
	free(enumeration->name);
}

static void struct_deinit(struct native_struct *structure)
{
	for (size_t i = 0; i < structure->n_fields; i++)
		parameter_deinit(&structure->fields[i].value);
	free(structure->fields);
	free(structure->name);
	free(structure->c);
}

const struct native_field *native_struct_field(
	const struct native_struct *structure, const char *name, size_t size)
{
	for (size_t i = 0; i < structure->n_fields; i++) {
		const char *found = structure->fields[i].value.name;

		if (text_is(name, size, found))
			return &structure->fields[i];
	}
	return NULL;
}

void native_types_free(struct native_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->n_enums; i++)
		enum_deinit(&types->enums[i]);
	for (size_t i = 0; i < types->n_structs; i++)
		struct_deinit(&types->structs[i]);
	free(types->enums);
	free(types->structs);
	free(types);
}

void native_function_deinit(struct native_function *function)
{
	for (size_t i = 0; i < function->n_parameters; i++)
		parameter_deinit(&function->parameters[i]);
	free(function->parameters);
	parameter_deinit(&function->returns);
	free(function->symbol);
	*function = (struct native_function){0};
}
