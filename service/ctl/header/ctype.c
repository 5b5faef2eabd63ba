/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/ctype.h"

#include "util/cleanup.h"

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

static void write_parameters(const struct c_type *function, bool resolves, struct buffer *out)
{
	buffer_append_char(out, '(');
	for (size_t i = 0; i < function->n_parameters; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		write_c_type(function->parameters[i].type, "", resolves, out);
	}
	if (function->is_variadic)
		buffer_append_string(out, function->n_parameters > 0 ? ", ..." : "...");
	else if (function->n_parameters == 0)
		buffer_append_string(out, "void");
	buffer_append_char(out, ')');
}

static const char *record_word(enum c_kind kind)
{
	return kind == C_STRUCT ? "struct " : kind == C_UNION ? "union " : "enum ";
}

/* Append the words of a type without a part of its own, and the declarator. */
static void write_base(const struct c_type *type, const char *declarator, struct buffer *out)
{
	buffer_append_string(out, type->is_const ? "const " : "");
	if (type->kind == C_STRUCT || type->kind == C_UNION || type->kind == C_ENUM) {
		if (!type->name && type->record->alias) {
			buffer_append_string(out, type->record->alias);
		} else {
			buffer_append_string(out, record_word(type->kind));
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
		write_parameters(type, resolves, &inner);
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
