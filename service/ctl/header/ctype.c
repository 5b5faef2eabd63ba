/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/ctype.h"

#include "util/cleanup.h"

/* The most bytes of an object whose size is computed. */
#define OBJECT_BYTES_MAX UINT32_MAX

const struct c_type *c_type_resolve(const struct c_type *type)
{
	while (type->kind == C_NAMED)
		type = type->of;
	return type;
}

bool c_type_is_const(const struct c_type *type)
{
	for (; type->kind == C_NAMED; type = type->of)
		if (type->is_const)
			return true;
	return type->is_const;
}

static uint64_t size_of_array(const struct c_type *type)
{
	uint64_t one = c_type_size(type->of);

	return one > 0 && type->n_elements <= OBJECT_BYTES_MAX / one ? type->n_elements * one : 0;
}

uint64_t c_type_size(const struct c_type *type)
{
	type = c_type_resolve(type);
	switch (type->kind) {
	case C_BOOL:
		return sizeof(bool);
	case C_INTEGER:
	case C_FLOAT:
		return type->bytes;
	case C_POINTER:
		return sizeof(void *);
	case C_ENUM:
		return sizeof(int);
	case C_ARRAY:
		return size_of_array(type);
	case C_STRUCT:
	case C_UNION:
		return type->record->size;
	default:
		return 0;
	}
}

static uint64_t alignment_of(const struct c_type *type)
{
	type = c_type_resolve(type);
	while (type->kind == C_ARRAY)
		type = c_type_resolve(type->of);
	return type->kind == C_STRUCT || type->kind == C_UNION ? type->record->alignment
							       : c_type_size(type);
}

void c_record_measure(struct c_record *record, bool is_union)
{
	uint64_t size = 0;
	uint64_t most = 1;

	record->size = record->alignment = 0;
	for (size_t i = 0; i < record->n_fields; i++) {
		const struct c_field *field = &record->fields[i];
		uint64_t one = c_type_size(field->type);
		uint64_t align = alignment_of(field->type);

		if (one == 0 || align == 0 || field->is_bits)
			return;
		most = align > most ? align : most;
		if (is_union)
			size = one > size ? one : size;
		else
			size = (size + align - 1) / align * align + one;
		if (size > OBJECT_BYTES_MAX)
			return;
	}
	record->size = (size + most - 1) / most * most;
	record->alignment = most;
}

const struct c_type *c_type_as_parameter(
	const struct c_type *type, const struct c_type **ret_target)
{
	const struct c_type *resolved = c_type_resolve(type);

	if (resolved->kind == C_FUNCTION)
		*ret_target = resolved;
	else if (resolved->kind == C_POINTER || resolved->kind == C_ARRAY)
		*ret_target = resolved->of;
	else
		*ret_target = NULL;
	return resolved;
}

static void write_c_type(
	const struct c_type *type, const char *declarator, bool resolves, struct buffer *out);

/* Append the parameters, with their typedefs: the text of all meanings would double with each. */
static void write_parameters(const struct c_type *function, struct buffer *out)
{
	buffer_append_char(out, '(');
	for (size_t i = 0; i < function->n_parameters; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		write_c_type(function->parameters[i].type, "", false, out);
	}
	if (function->is_variadic)
		buffer_append_string(out, function->n_parameters > 0 ? ", ..." : "...");
	else if (function->n_parameters == 0)
		buffer_append_string(out, "void");
	buffer_append_char(out, ')');
}

/* Append the words of a type without a part of its own, and the declarator. */
static void write_base(const struct c_type *type, const char *declarator, struct buffer *out)
{
	buffer_append_string(out, type->is_const ? "const " : "");
	if (type->kind == C_STRUCT || type->kind == C_UNION || type->kind == C_ENUM) {
		if (!type->name && type->record->alias) {
			buffer_append_string(out, type->record->alias);
		} else {
			buffer_append_string(out, type->kind == C_STRUCT  ? "struct "
						  : type->kind == C_UNION ? "union "
									  : "enum ");
			buffer_append_string(out, type->name ? type->name : "{...}");
		}
	} else {
		buffer_append_string(out, type->name);
	}
	if (*declarator)
		buffer_printf(out, " %s", declarator);
}

/* A declarator is read from its inside out, so it is made before the words on its left. */
static void write_c_type(
	const struct c_type *type, const char *declarator, bool resolves, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer inner = {0};

	if (resolves && type->kind == C_NAMED && c_type_resolve(type)->kind != C_STRUCT &&
		c_type_resolve(type)->kind != C_UNION) {
		struct c_type meant = *c_type_resolve(type);

		meant.is_const = c_type_is_const(type);
		write_c_type(&meant, declarator, resolves, out);
		return;
	}
	if (type->kind == C_POINTER) {
		bool is_inside = type->of->kind == C_ARRAY || type->of->kind == C_FUNCTION;

		buffer_printf(&inner, "%s*%s%s%s", is_inside ? "(" : "",
			type->is_const ? "const" : "", type->is_const && *declarator ? " " : "",
			declarator);
		buffer_append_string(&inner, is_inside ? ")" : "");
	} else if (type->kind == C_ARRAY) {
		buffer_printf(&inner, "%s[%s]", declarator, type->count);
	} else if (type->kind == C_FUNCTION) {
		buffer_append_string(&inner, declarator);
		write_parameters(type, &inner);
	} else {
		write_base(type, declarator, out);
		return;
	}
	if (buffer_terminate(&inner))
		write_c_type(type->of, inner.data, resolves, out);
	else
		buffer_fail_with(out, &inner);
}

void c_type_write(const struct c_type *type, const char *name, struct buffer *out)
{
	write_c_type(type, name, false, out);
}

void c_type_write_resolved(const struct c_type *type, struct buffer *out)
{
	write_c_type(type, "", true, out);
}

void c_function_write(const struct c_type *function, const char *name, struct buffer *out)
{
	write_c_type(function, name, false, out);
}
