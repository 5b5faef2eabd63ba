/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/hold.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call/native.h"
#include "ctl/header/header.h"
#include "util/array.h"
#include "util/cleanup.h"

void holding_deinit(struct holding *holding)
{
	for (size_t i = 0; i < holding->n_findings; i++)
		free(holding->findings[i].text);
	free(holding->findings);
	questions_deinit(&holding->questions);
	buffer_deinit(&holding->place);
	buffer_deinit(&holding->declaration);
	*holding = (struct holding){0};
}

void hold_note(struct holding *holding, enum diagnostic_severity severity, size_t question,
	uint32_t at, const char *format, ...)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	va_list arguments;
	char *copy;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	copy = buffer_take(&text, NULL);
	if (!copy || array_grow(holding->findings, holding->n_findings) < 0) {
		free(copy);
		holding->error = -ENOMEM;
		return;
	}
	holding->findings[holding->n_findings++] =
		(struct finding){severity, holding->guard, question, at, copy};
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

/* Set the place and the declaration for findings. Return false without memory. */
static bool set_place(struct holding *holding, const char *file, unsigned int line,
	const struct c_type *type, const char *name)
{
	buffer_reset(&holding->place);
	buffer_reset(&holding->declaration);
	buffer_printf(&holding->place, "%s:%u", header_short_name(file), line);
	c_type_write(type, name, &holding->declaration);
	if (buffer_terminate(&holding->place) && buffer_terminate(&holding->declaration))
		return true;
	holding->error = -ENOMEM;
	return false;
}

const struct c_function *hold_function(struct holding *holding, const char *name, uint32_t at)
{
	const struct c_function *function = c_find_function(&holding->header->declarations, name);
	cleanup(buffer_deinit) struct buffer type = {0};
	size_t guard;

	holding->guard = HOLD_ALWAYS;
	if (!function) {
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, at,
			"'%s' is declared in no header: is one more --header missing?", name);
		return NULL;
	}
	c_type_write(function->type, "", &type);
	if (!buffer_terminate(&type) ||
		!set_place(holding, function->file, function->line, function->type, name)) {
		holding->error = -ENOMEM;
		return NULL;
	}
	guard = questions_assert(&holding->questions,
		"__builtin_types_compatible_p(__typeof__(%s), __typeof__(%s))", name, type.data);
	hold_note(holding, DIAGNOSTIC_WARNING, guard, at,
		"'%s' is not held against %s, whose declaration is not understood", name,
		holding->place.data);
	holding->guard = guard;
	return function;
}

void hold_field(
	struct holding *holding, const struct c_field *field, const char *file, unsigned int line)
{
	holding->guard = HOLD_ALWAYS;
	set_place(holding, file, line, field->type, field->name);
}

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_character(const struct c_type *type)
{
	type = c_type_resolve(type);
	return type->kind == C_INTEGER && type->is_char;
}

static bool is_one_byte(const struct c_type *type)
{
	const struct c_type *resolved = c_type_resolve(type);

	return resolved->kind == C_VOID || resolved->kind == C_BOOL || is_character(type);
}

/* Append the manifest's word for a type of the header, "u32"; nothing where there is none. */
static void write_type_word(const struct c_type *type, struct buffer *out)
{
	const struct c_type *target;

	type = c_type_as_parameter(type, &target);
	if (type->kind == C_VOID)
		buffer_append_string(out, "void");
	else if (type->kind == C_BOOL)
		buffer_append_string(out, "bool");
	else if (type->kind == C_ENUM)
		buffer_append_string(out, "i32 or an enum");
	else if (type->kind == C_FLOAT && type->bytes <= sizeof(double))
		buffer_printf(out, "f%u", type->bytes * 8u);
	else if (type->kind == C_INTEGER)
		buffer_printf(out, "%c%u", type->is_signed ? 'i' : 'u', type->bytes * 8u);
	else if (target && is_character(target))
		buffer_append_string(out, "str or bytes");
	else if (target && c_type_resolve(target)->kind == C_VOID)
		buffer_append_string(out, "bytes");
}

/* Append the manifest's type for a person: 'i32' by pointer. */
static void write_held(const struct held *held, struct buffer *out)
{
	if (held->items)
		buffer_printf(out, "an 'array' of '%s'", held->items);
	else
		buffer_printf(out, "'%s'", held->word);
	if (held->c)
		buffer_printf(out, " (%s%s)", held->c, held->is_value ? " by value" : " *");
	if (held->is_handed)
		buffer_append_string(out, " by pointer");
}

/* Note a mismatch with the type of the header, unless @question is answered by yes. */
static void note_mismatch(struct holding *holding, const struct held *held,
	const struct c_type *type, size_t question)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer word = {0};

	write_held(held, &text);
	buffer_append_string(&text, ", but ");
	buffer_printf(&text, "%s has '", holding->place.data);
	c_type_write_resolved(type, &text);
	buffer_append_string(&text, "'");
	write_type_word(type, &word);
	if (word.size > 0)
		buffer_printf(&text, " (%.*s)", (int)word.size, word.data);
	buffer_append_string(&text, ": ");
	buffer_append_string(&text, holding->declaration.data);
	if (buffer_terminate(&text))
		hold_note(holding, DIAGNOSTIC_ERROR, question, held->at, "%s", text.data);
	else
		holding->error = -ENOMEM;
}

/* ── numbers ─────────────────────────────────────────────────────────────────────────────────── */

/* Return the native type with this word; NATIVE_N_TYPES: none. */
static enum native_type find_native_type(const char *word)
{
	enum native_type type = NATIVE_VOID;

	while (type < NATIVE_N_TYPES && strcmp(native_type_name(type), word) != 0)
		type++;
	return type;
}

static bool is_number(enum native_type type)
{
	return type > NATIVE_VOID && type <= NATIVE_F64;
}

/* Ask whether the type with the number @n is the number @word. Return the question. */
static size_t ask_number(struct holding *holding, const char *word, bool is_enum, size_t n)
{
	enum native_type type = find_native_type(word);
	size_t bytes = native_type_bytes(type);
	struct questions *questions = &holding->questions;

	if (type == NATIVE_BOOL)
		return questions_assert(
			questions, "__builtin_types_compatible_p(" QUESTIONS_TYPE ", _Bool)", n);
	if (!native_is_integer(type))
		return questions_assert(questions,
			"toolboxctl_class_%zu == 8 && sizeof(" QUESTIONS_TYPE ") == %zu", n, n,
			bytes);
	if (is_enum)
		return questions_assert(questions,
			"toolboxctl_class_%zu >= 1 && toolboxctl_class_%zu <= 4 && "
			"sizeof(" QUESTIONS_TYPE ") == %zu",
			n, n, n, bytes);
	return questions_assert(questions,
		"toolboxctl_class_%zu >= 1 && toolboxctl_class_%zu <= 4 && "
		"sizeof(" QUESTIONS_TYPE ") == %zu && "
		"((" QUESTIONS_TYPE ")-1 < (" QUESTIONS_TYPE ")1) == %d",
		n, n, n, bytes, n, n, native_is_signed(type));
}

/* Hold a number against @type, a part of @whole, which findings show. An enum of C and a 32-bit
 * integer are each other's. */
static void hold_number(struct holding *holding, const struct held *held, const char *word,
	const struct c_type *type, const struct c_type *whole)
{
	enum c_kind kind = c_type_resolve(type)->kind;
	bool is_enum = (kind == C_ENUM || held->is_enumeration) &&
		       native_type_bytes(find_native_type(word)) == sizeof(int);

	if (kind != C_BOOL && kind != C_INTEGER && kind != C_FLOAT && kind != C_ENUM)
		note_mismatch(holding, held, whole, HOLD_ALWAYS);
	else
		note_mismatch(holding, held, whole,
			ask_number(
				holding, word, is_enum, questions_type(&holding->questions, type)));
}

/* ── pointers ────────────────────────────────────────────────────────────────────────────────── */

/* Hold the constness of what a pointer leads to. */
static void hold_const(
	struct holding *holding, const struct held *held, const struct c_type *target)
{
	/* An inout number is how a pointer to a constant one is passed. */
	if (held->is_out && !held->is_inout && c_type_is_const(target))
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, held->at,
			"it comes out, but for %s it is const, so the function does not write "
			"to it: %s",
			holding->place.data, holding->declaration.data);
	else if (!held->is_out && !c_type_is_const(target))
		hold_note(holding, DIAGNOSTIC_WARNING, HOLD_ALWAYS, held->at,
			"it only goes in, but for %s it is not const, so the function may write "
			"to it: %s",
			holding->place.data, holding->declaration.data);
}

/* Return whether the value leads to memory whose constness is known from the manifest. */
static bool is_buffer(const struct held *held)
{
	return !held->is_handed &&
	       (held->items || strcmp(held->word, "str") == 0 || strcmp(held->word, "json") == 0 ||
		       strcmp(held->word, "bytes") == 0);
}

/* Hold the struct against @type. */
static void hold_struct(struct holding *holding, const struct held *held, const struct c_type *type,
	const struct c_type *whole)
{
	size_t n = questions_type(&holding->questions, type);

	/* A qualifier on top is ignored. */
	note_mismatch(holding, held, whole,
		questions_assert(&holding->questions,
			"__builtin_types_compatible_p(" QUESTIONS_TYPE ", %s)", n, held->c));
}

/* Hold the target of a pointer. */
static void hold_target(struct holding *holding, const struct held *held,
	const struct c_type *target, const struct c_type *whole)
{
	const struct c_type *inner;
	const char *word = held->word;
	bool fits = true;

	if (held->items && c_type_resolve(target)->kind != C_VOID) {
		hold_number(holding, held, held->items, target, whole);
	} else if (strcmp(word, "str") == 0 || strcmp(word, "json") == 0) {
		fits = is_character(target);
	} else if (strcmp(word, "bytes") == 0) {
		enum c_kind kind = c_type_resolve(target)->kind;

		/* A struct of one byte: the compiler knows. */
		if ((kind == C_STRUCT || kind == C_UNION) &&
			c_type_resolve(target)->record->is_complete)
			note_mismatch(holding, held, whole,
				questions_assert(&holding->questions,
					"sizeof(" QUESTIONS_TYPE ") == 1",
					questions_type(&holding->questions, target)));
		else
			fits = is_one_byte(target);
	} else if (strcmp(word, "strv") == 0) {
		c_type_as_parameter(target, &inner);
		fits = inner && is_character(inner);
	} else if (strcmp(word, "struct") == 0 && held->c) {
		hold_struct(holding, held, target, whole);
	}
	if (!fits)
		note_mismatch(holding, held, whole, HOLD_ALWAYS);
}

/* Hold a value itself, not a pointer to it. */
static void hold_itself(struct holding *holding, const struct held *held, const struct c_type *type,
	const struct c_type *whole)
{
	const struct c_type *target;

	if (is_number(find_native_type(held->word))) {
		hold_number(holding, held, held->word, type, whole);
		return;
	}
	if (held->is_value && held->c) {
		hold_struct(holding, held, type, whole);
		return;
	}
	c_type_as_parameter(type, &target);
	if (target)
		hold_target(holding, held, target, whole);
	else
		note_mismatch(holding, held, whole, HOLD_ALWAYS);
}

void hold_parameter(struct holding *holding, const struct held *held, const struct c_type *type)
{
	const struct c_type *target;

	c_type_as_parameter(type, &target);
	if (held->is_null || held->is_handed) {
		if (!target)
			note_mismatch(holding, held, type, HOLD_ALWAYS);
		if (!target || held->is_null)
			return;
		hold_itself(holding, held, target, type);
		if (held->is_out)
			hold_const(holding, held, target);
		return;
	}
	hold_itself(holding, held, type, type);
	if (target && is_buffer(held))
		hold_const(holding, held, target);
}

void hold_value(struct holding *holding, const struct held *held, const struct c_type *type)
{
	enum c_kind kind = c_type_resolve(type)->kind;

	if (strcmp(held->word, "void") != 0)
		hold_itself(holding, held, type, type);
	else if (kind == C_STRUCT || kind == C_UNION || kind == C_OTHER)
		/* The caller has to give memory for it. */
		note_mismatch(holding, held, type, HOLD_ALWAYS);
}
