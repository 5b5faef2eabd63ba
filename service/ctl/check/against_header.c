/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/against_header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "call/native.h"
#include "ctl/header/header.h"
#include "ctl/header/hold.h"
#include "json/member.h"
#include "json/number.h"
#include "json/pointer.h"
#include "util/cleanup.h"

/* The longest name of C and of the manifest. */
#define NAME_BYTES 256

/* The most names set by the steps of a tool. */
#define SCOPE_MAX 512

/* A name for steps, and the description of its value. */
struct named {
	uint32_t name;
	uint32_t object;
};

struct walk {
	const struct json_tape *tape;
	const char *file;
	struct holding holding;
	uint32_t structs;
	uint32_t enums;
	struct named scope[SCOPE_MAX]; /* values of `init` first */
	size_t n_scope;
};

/* The texts of a struct held. */
struct held_texts {
	char word[NAME_BYTES];
	char items[NAME_BYTES];
	char c[NAME_BYTES + 8];
};

/* ── texts ───────────────────────────────────────────────────────────────────────────────────── */

/* Copy the string at @token. Return false when there is none, or it is too long. */
static bool read_name_text(const struct json_tape *tape, uint32_t token, char text[NAME_BYTES])
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	if (token == JSON_NONE || json_type_at(tape, token) != JSON_STRING)
		return false;
	json_string_decode(tape, token, &bytes);
	if (buffer_status(&bytes) || bytes.size >= NAME_BYTES ||
		(bytes.size > 0 && memchr(bytes.data, '\0', bytes.size)))
		return false;
	memcpy(text, buffer_text(&bytes), bytes.size);
	text[bytes.size] = '\0';
	return true;
}

static bool read_member(
	const struct json_tape *tape, uint32_t object, const char *key, char text[NAME_BYTES])
{
	return object != JSON_NONE && read_name_text(tape, json_find(tape, object, key), text);
}

/* Return whether @text may be a part of a line for the compiler: names of C, spaces, stars. */
static bool is_c_words(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789_ *");

	return n > 0 && !text[n];
}

static uint32_t find_held_member(const struct walk *walk, uint32_t object, const char *key)
{
	return object == JSON_NONE || json_type_at(walk->tape, object) != JSON_OBJECT
		       ? JSON_NONE
		       : json_find(walk->tape, object, key);
}

static bool is_word(const struct walk *walk, uint32_t object, const char *key, const char *word)
{
	uint32_t token = find_held_member(walk, object, key);

	return json_is_text(walk->tape, token, word);
}

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

/* Write the name in C of the struct called @name in the manifest. */
static void write_c_name(const struct walk *walk, const char *name, char text[NAME_BYTES + 8])
{
	uint32_t object = find_held_member(walk, walk->structs, name);
	char given[NAME_BYTES];

	if (read_member(walk->tape, object, "c", given))
		snprintf(text, NAME_BYTES + 8, "%s", given);
	else if (c_find_tag(&walk->holding.header->declarations, name))
		snprintf(text, NAME_BYTES + 8, "struct %s", name);
	else
		snprintf(text, NAME_BYTES + 8, "%s", name);
}

/* Read the type of the value described at @object, as it is without a direction. */
static bool read_held_type(
	const struct walk *walk, uint32_t object, struct held *held, struct held_texts *texts)
{
	char name[NAME_BYTES];
	bool is_enum;
	bool is_flags;

	*held = (struct held){.word = texts->word, .at = object};
	if (!read_member(walk->tape, object, "type", texts->word)) {
		if (find_held_member(walk, object, "struct") == JSON_NONE)
			return false;
		snprintf(texts->word, sizeof(texts->word), "struct");
	}
	if (find_held_member(walk, object, "type") != JSON_NONE)
		held->at = find_held_member(walk, object, "type");
	is_enum = strcmp(texts->word, "enum") == 0;
	is_flags = strcmp(texts->word, "flags") == 0;
	if (is_enum || is_flags) {
		held->is_enumeration = true;
		if (!read_member(walk->tape, object, "base", texts->word))
			snprintf(texts->word, sizeof(texts->word), is_flags ? "u32" : "i32");
	}
	if (strcmp(texts->word, "array") == 0 &&
		read_member(walk->tape, object, "items", texts->items))
		held->items = texts->items;
	if (strcmp(texts->word, "struct") == 0 && read_member(walk->tape, object, "struct", name)) {
		write_c_name(walk, name, texts->c);
		held->c = is_c_words(texts->c) ? texts->c : NULL;
		held->is_value = is_word(walk, object, "by", "value");
	}
	return true;
}

/* Return whether a value of this type that comes out is the function's own: it gets the address of
 * a pointer. */
static bool is_handed_out(const struct walk *walk, uint32_t object, const struct held *held)
{
	if (strcmp(held->word, "handle") == 0)
		return find_held_member(walk, object, "size") == JSON_NONE;
	if (strcmp(held->word, "struct") == 0)
		return is_word(walk, object, "by", "pointer");
	if (strcmp(held->word, "strv") == 0)
		return true;
	return find_held_member(walk, object, "transfer") != JSON_NONE;
}

/* Return whether the word is a number or a bool. */
static bool is_scalar(const char *word)
{
	for (enum native_type type = NATIVE_BOOL; type <= NATIVE_F64; type++)
		if (strcmp(native_type_name(type), word) == 0)
			return true;
	return false;
}

/* Read the parameter described at @object, with the direction @dir, or its own for NULL. */
static bool read_held_parameter(const struct walk *walk, uint32_t object, const char *dir,
	struct held *held, struct held_texts *texts)
{
	uint32_t value = find_held_member(walk, object, "value");

	if (!read_held_type(walk, object, held, texts))
		return false;
	held->is_inout = dir ? strcmp(dir, "inout") == 0 : is_word(walk, object, "dir", "inout");
	held->is_out = held->is_inout ||
		       (dir ? strcmp(dir, "out") == 0 : is_word(walk, object, "dir", "out"));
	if (held->is_out)
		held->is_handed = is_scalar(held->word) || is_handed_out(walk, object, held);
	held->is_null =
		!held->is_out && value != JSON_NONE && json_type_at(walk->tape, value) == JSON_NULL;
	return true;
}

/* ── names of steps ──────────────────────────────────────────────────────────────────────────── */

/* Let steps name the value described at @object, which has a `name`. */
static void add_scope_name(struct walk *walk, uint32_t object)
{
	uint32_t name = find_held_member(walk, object, "name");

	if (name != JSON_NONE && json_type_at(walk->tape, name) == JSON_STRING &&
		walk->n_scope < SCOPE_MAX)
		walk->scope[walk->n_scope++] = (struct named){name, object};
}

/* Return the description of the field @field, or of one in its struct after a dot, of the value at
 * @object. */
static uint32_t find_field(const struct walk *walk, uint32_t object, const char *field)
{
	char name[NAME_BYTES];
	char first[NAME_BYTES];
	const char *rest = strchr(field, '.');
	uint32_t fields;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(field, "."), field);
	if (!read_member(walk->tape, object, "struct", name))
		return JSON_NONE;
	fields = find_held_member(walk, find_held_member(walk, walk->structs, name), "fields");
	if (fields == JSON_NONE || json_type_at(walk->tape, fields) != JSON_ARRAY)
		return JSON_NONE;
	json_each(i, walk->tape, fields)
		if (is_word(walk, i, "name", first)) {
			rest = rest && isdigit((unsigned char)rest[1]) ? strchr(rest + 1, '.')
								       : rest;
			return rest ? find_field(walk, i, rest + 1) : i;
		}
	return JSON_NONE;
}

/* Return the description of "$name", "$$name" or "$name.field"; JSON_NONE without one. */
static uint32_t find_scope_name(const struct walk *walk, const char *text)
{
	char name[NAME_BYTES];
	char *field;
	uint32_t object = JSON_NONE;

	snprintf(name, sizeof(name), "%s", text + strspn(text, "$"));
	field = strchr(name, '.');
	if (field)
		*field++ = '\0';
	for (size_t i = walk->n_scope; object == JSON_NONE && i-- > 0;)
		if (json_is_text(walk->tape, walk->scope[i].name, name))
			object = walk->scope[i].object;
	return object != JSON_NONE && field ? find_field(walk, object, field) : object;
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

/* Begin with the function named at @token. */
static const struct c_function *begin_function(struct walk *walk, uint32_t token)
{
	char name[NAME_BYTES];

	return read_name_text(walk->tape, token, name) ? hold_function(&walk->holding, name, token)
						       : NULL;
}

/* Hold the number of parameters. Return how many can be held one by one. */
static size_t hold_count(struct walk *walk, const struct c_function *function, size_t n,
	uint32_t variadic, uint32_t at)
{
	struct holding *holding = &walk->holding;
	size_t n_declared = function->type->n_parameters;
	uint64_t n_fixed = n;

	if (function->type->is_variadic != (variadic != JSON_NONE))
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, at,
			function->type->is_variadic
				? "%s has variable arguments, so \"variadic\" must say how many "
				  "are fixed: %s"
				: "\"variadic\", but %s has no variable arguments: %s",
			holding->place.data, holding->declaration.data);
	if (variadic != JSON_NONE)
		json_number_u64(walk->tape, variadic, &n_fixed);
	if (n_fixed != n_declared)
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, at,
			"%zu%s parameter%s, but %s has %zu: %s", (size_t)n_fixed,
			variadic != JSON_NONE ? " fixed" : "", n_fixed == 1 ? "" : "s",
			holding->place.data, n_declared, holding->declaration.data);
	n = n < n_fixed ? n : (size_t)n_fixed;
	return n < n_declared ? n : n_declared;
}

/* Return whether @type is `GError **`. */
static bool is_gerror(const struct c_type *type)
{
	const struct c_type *target;

	c_type_as_parameter(type, &target);
	if (target)
		c_type_as_parameter(target, &target);
	if (!target)
		return false;
	target = c_type_resolve(target);
	return target->kind == C_STRUCT && target->name && strcmp(target->name, "_GError") == 0;
}

/* Hold the last parameter, absent from the manifest. */
static void hold_gerror(struct walk *walk, const struct c_function *function, uint32_t at)
{
	const struct c_type *type = function->type;

	if (type->n_parameters == 0 || !is_gerror(type->parameters[type->n_parameters - 1].type))
		hold_note(&walk->holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, at,
			"'gerror', but the last parameter at %s is no 'GError **': %s",
			walk->holding.place.data, walk->holding.declaration.data);
}

/* Hold the function that frees a value, where it is named. */
static void hold_free(struct walk *walk, uint32_t object)
{
	uint32_t token = find_held_member(walk, object, "free");
	const struct c_function *function;
	const struct c_type *target = NULL;

	if (token == JSON_NONE || is_word(walk, object, "free", "free"))
		return;
	function = begin_function(walk, token);
	if (!function)
		return;
	if (function->type->n_parameters == 1)
		c_type_as_parameter(function->type->parameters[0].type, &target);
	if (!target)
		hold_note(&walk->holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, token,
			"a function that frees takes one pointer, but %s has: %s",
			walk->holding.place.data, walk->holding.declaration.data);
}

static void hold_returns(
	struct walk *walk, const struct c_function *function, uint32_t returns, uint32_t at)
{
	struct held_texts texts;
	struct held held = {.word = "void", .at = at};

	if (returns != JSON_NONE && !read_held_type(walk, returns, &held, &texts))
		return;
	hold_value(&walk->holding, &held, function->type->of);
	if (is_word(walk, returns, "errors", "gerror"))
		hold_gerror(walk, function, find_held_member(walk, returns, "errors"));
}

/* Return how many elements @list has, and one more for a GError. */
static size_t count_parameters(const struct walk *walk, uint32_t list, uint32_t returns)
{
	return (list == JSON_NONE ? 0 : json_count(walk->tape, list)) +
	       is_word(walk, returns, "errors", "gerror");
}

/* ── the form of one function ────────────────────────────────────────────────────────────────── */

/* Read one of the values that a function is called with. Return false for one that is not
 * understood. */
typedef bool (*read_value_function)(
	const struct walk *walk, uint32_t at, struct held *held, struct held_texts *texts);

/* A read_value_function of a parameter. */
static bool read_parameter(
	const struct walk *walk, uint32_t at, struct held *held, struct held_texts *texts)
{
	return read_held_parameter(walk, at, NULL, held, texts);
}

/* Hold @function, called by @object with the values of @list (or JSON_NONE), each read by @read.
 * Mistakes without another place are at @at. */
static void hold_call(struct walk *walk, const struct c_function *function, uint32_t object,
	uint32_t list, read_value_function read, uint32_t at)
{
	uint32_t returns = find_held_member(walk, object, "returns");
	size_t n = hold_count(walk, function, count_parameters(walk, list, returns),
		find_held_member(walk, object, "variadic"), list != JSON_NONE ? list : at);
	size_t i = 0;

	if (list != JSON_NONE) {
		json_each(value, walk->tape, list) {
			struct held_texts texts;
			struct held held;

			if (i < n && read(walk, value, &held, &texts))
				hold_parameter(
					&walk->holding, &held, function->type->parameters[i].type);
			i++;
		}
	}
	hold_returns(walk, function, returns, at);
}

static void walk_symbol(struct walk *walk, uint32_t native, uint32_t symbol)
{
	const struct json_tape *tape = walk->tape;
	uint32_t parameters = json_find_typed(tape, native, "parameters", JSON_ARRAY);
	const struct c_function *function = begin_function(walk, symbol);

	if (!function)
		return;
	hold_call(walk, function, native, parameters, read_parameter, native);
	hold_free(walk, find_held_member(walk, native, "returns"));
	json_each_found(at, tape, parameters)
		hold_free(walk, at);
}

/* ── steps ───────────────────────────────────────────────────────────────────────────────────── */

/* A read_value_function of an argument of a step. */
static bool read_argument(
	const struct walk *walk, uint32_t at, struct held *held, struct held_texts *texts)
{
	const struct json_tape *tape = walk->tape;
	char text[NAME_BYTES];
	uint32_t object;

	*held = (struct held){.word = "handle", .at = at};
	if (json_type_at(tape, at) == JSON_NULL) {
		held->is_null = true;
		return true;
	}
	if (json_type_at(tape, at) == JSON_STRING) {
		object = read_name_text(tape, at, text) ? find_scope_name(walk, text) : JSON_NONE;
		if (object == JSON_NONE || !read_held_parameter(walk, object, "in", held, texts))
			return false;
		held->at = at;
		return true;
	}
	if (json_type_at(tape, at) != JSON_OBJECT || json_count(tape, at) == 0)
		return false;
	if ((object = find_held_member(walk, at, "out")) != JSON_NONE)
		return read_held_parameter(walk, object, "out", held, texts);
	if ((object = find_held_member(walk, at, "inout")) != JSON_NONE)
		return read_held_parameter(walk, object, "inout", held, texts);
	held->word = texts->word;
	if (find_held_member(walk, at, "length_of") != JSON_NONE)
		return read_held_type(walk, at, held, texts);
	if (find_held_member(walk, at, "size_of") != JSON_NONE)
		return snprintf(texts->word, sizeof(texts->word), "usize") > 0;
	if (find_held_member(walk, at, "as") != JSON_NONE)
		return read_member(tape, at, "as", texts->word);
	return read_name_text(tape, json_first(tape, at), texts->word);
}

static void walk_call(struct walk *walk, uint32_t object);

/* Walk the calls that belong to a call, once its own values have names. */
static void walk_parts(struct walk *walk, uint32_t object)
{
	uint32_t returns = find_held_member(walk, object, "returns");
	uint32_t message = find_held_member(walk, returns, "message");
	uint32_t last = find_held_member(walk, object, "finally");

	hold_free(walk, returns);
	if (message != JSON_NONE && json_type_at(walk->tape, message) == JSON_OBJECT)
		walk_call(walk, message);
	if (last != JSON_NONE)
		walk_call(walk, last);
}

/* Let later steps name what the call sets. */
static void add_results(struct walk *walk, uint32_t object)
{
	uint32_t arguments = json_find_typed(walk->tape, object, "args", JSON_ARRAY);

	add_scope_name(walk, find_held_member(walk, object, "returns"));
	json_each_found(at, walk->tape, arguments) {
		if (json_type_at(walk->tape, at) != JSON_OBJECT)
			continue;
		add_scope_name(walk, find_held_member(walk, at, "out"));
		add_scope_name(walk, find_held_member(walk, at, "inout"));
		hold_free(walk, find_held_member(walk, at, "out"));
	}
}

/* Hold one call: of a step, a finally or a message. */
static void walk_call(struct walk *walk, uint32_t object)
{
	uint32_t call = find_held_member(walk, object, "call");
	uint32_t arguments = json_find_typed(walk->tape, object, "args", JSON_ARRAY);
	const struct c_function *function = begin_function(walk, call);

	if (function)
		hold_call(walk, function, object, arguments, read_argument, call);
	add_results(walk, object);
	walk_parts(walk, object);
}

static void walk_steps(struct walk *walk, uint32_t steps)
{
	if (steps == JSON_NONE || json_type_at(walk->tape, steps) != JSON_ARRAY)
		return;
	json_each(at, walk->tape, steps) {
		uint32_t repeat = find_held_member(walk, at, "repeat");

		if (repeat != JSON_NONE) {
			walk_call(walk, repeat);
			walk_steps(walk, find_held_member(walk, repeat, "steps"));
		} else if (find_held_member(walk, at, "read") != JSON_NONE) {
			add_scope_name(walk, at);
		} else {
			walk_call(walk, at);
		}
	}
}

static void walk_tool(struct walk *walk, uint32_t native)
{
	const struct json_tape *tape = walk->tape;
	uint32_t symbol = find_held_member(walk, native, "symbol");
	uint32_t parameters = json_find_typed(tape, native, "parameters", JSON_ARRAY);
	size_t n_scope = walk->n_scope;

	if (symbol != JSON_NONE) {
		walk_symbol(walk, native, symbol);
		return;
	}
	json_each_found(at, tape, parameters)
		add_scope_name(walk, at);
	walk_steps(walk, find_held_member(walk, native, "steps"));
	walk->n_scope = n_scope;
}

/* ── structs ─────────────────────────────────────────────────────────────────────────────────── */

/* Return whether a field of this type with a count is an array of bytes. */
static bool is_bytes_word(const char *word)
{
	return strcmp(word, "str") == 0 || strcmp(word, "bytes") == 0;
}

/* Write the field at @field as C declares it in a struct with the same layout. Return false for a
 * type that is not known here. */
static bool write_field(const struct walk *walk, uint32_t field, struct buffer *out)
{
	static const char *const types[] = {[NATIVE_BOOL] = "_Bool",
		"signed char",
		"short",
		"int",
		"long long",
		"unsigned char",
		"unsigned short",
		"unsigned int",
		"unsigned long long",
		"__typeof__((char *)0 - (char *)0)",
		"__typeof__(sizeof(0))",
		"float",
		"double"};
	char name[NAME_BYTES];
	char c[NAME_BYTES + 8];
	struct held_texts texts;
	struct held held;
	uint32_t count = find_held_member(walk, field, "count");
	const char *type = "void *";
	uint64_t n;

	if (!read_held_type(walk, field, &held, &texts) ||
		!read_member(walk->tape, field, "name", name) || !is_c_words(name))
		return false;
	for (enum native_type i = NATIVE_BOOL; i <= NATIVE_F64; i++)
		if (strcmp(native_type_name(i), held.word) == 0)
			type = types[i];
	if (is_bytes_word(held.word) && count != JSON_NONE)
		type = "char";
	if (strcmp(held.word, "struct") == 0 && !is_word(walk, field, "by", "pointer")) {
		snprintf(c, sizeof(c), "%s", held.c ? held.c : "int");
		type = c;
	}
	buffer_printf(out, "%s %s", type, name);
	if (count != JSON_NONE && json_number_u64(walk->tape, count, &n) == 0)
		buffer_printf(out, "[%llu]", (unsigned long long)n);
	buffer_append_string(out, "; ");
	return true;
}

static const struct c_field *find_c_field(const struct c_record *record, const char *name)
{
	for (size_t i = 0; i < record->n_fields; i++)
		if (record->fields[i].name && strcmp(record->fields[i].name, name) == 0)
			return &record->fields[i];
	return NULL;
}

/* Hold the name, the type and the offset of the field at @field. */
static void hold_one_field(struct walk *walk, uint32_t field, const struct c_record *record,
	const char *c, const char *like)
{
	struct holding *holding = &walk->holding;
	char name[NAME_BYTES];
	struct held_texts texts;
	struct held held;
	const struct c_field *found;
	const struct c_type *type;

	if (!read_member(walk->tape, field, "name", name) ||
		!read_held_type(walk, field, &held, &texts))
		return;
	found = find_c_field(record, name);
	if (!found) {
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, field,
			"%s of %s:%u has no field '%s'", c, header_short_name(record->file),
			record->line, name);
		return;
	}
	hold_field(holding, found, record->file, record->line);
	if (found->is_bits) {
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, field,
			"'%s' is a bit-field at %s, which has no address: %s", name,
			holding->place.data, holding->declaration.data);
		return;
	}
	type = found->type;
	/* A fixed array of numbers, of any dimensions; its size is held as a whole. */
	while (find_held_member(walk, field, "count") != JSON_NONE && !is_bytes_word(held.word) &&
		c_type_resolve(type)->kind == C_ARRAY)
		type = c_type_resolve(type)->of;
	held.is_value = strcmp(held.word, "struct") == 0 && !is_word(walk, field, "by", "pointer");
	hold_value(holding, &held, type);
	hold_note(holding, DIAGNOSTIC_ERROR,
		questions_assert(&holding->questions,
			"sizeof(((%s *)0)->%s) == sizeof(((%s *)0)->%s)", c, name, like, name),
		field, "'%s' has another size in %s of %s: %s", name, c, holding->place.data,
		holding->declaration.data);
	hold_note(holding, DIAGNOSTIC_ERROR,
		questions_assert(&holding->questions,
			"__builtin_offsetof(%s, %s) == __builtin_offsetof(%s, %s)", c, name, like,
			name),
		field, "'%s' is at another offset in %s of %s: is a field missing before it?", name,
		c, holding->place.data);
}

static void walk_struct(struct walk *walk, uint32_t key, size_t n)
{
	cleanup(buffer_deinit) struct buffer body = {0};
	struct holding *holding = &walk->holding;
	uint32_t object = key + 1;
	uint32_t fields = json_find_typed(walk->tape, object, "fields", JSON_ARRAY);
	uint32_t partial = find_held_member(walk, object, "partial");
	char name[NAME_BYTES];
	char c[NAME_BYTES + 8];
	char like[64];
	const struct c_type *type;

	holding->guard = HOLD_ALWAYS;
	if (fields == JSON_NONE || !read_name_text(walk->tape, key, name))
		return;
	write_c_name(walk, name, c);
	type = strncmp(c, "struct ", 7) == 0 ? c_find_tag(&holding->header->declarations, c + 7)
					     : c_find_typedef(&holding->header->declarations, c);
	type = type ? c_type_resolve(type) : NULL;
	if (!type || type->kind != C_STRUCT || !type->record->is_complete) {
		hold_note(holding, DIAGNOSTIC_ERROR, HOLD_ALWAYS, key,
			"the fields of '%s' are declared in no header", c);
		return;
	}
	snprintf(like, sizeof(like), "struct toolboxctl_like_%zu", n);
	json_each(at, walk->tape, fields)
		write_field(walk, at, &body);
	questions_add(&holding->questions, "%s { %.*s};", like, (int)body.size, buffer_text(&body));
	json_each(at, walk->tape, fields)
		hold_one_field(walk, at, type->record, c, like);
	if (partial != JSON_NONE && json_type_at(walk->tape, partial) == JSON_TRUE)
		return;
	holding->guard = HOLD_ALWAYS;
	hold_note(holding, DIAGNOSTIC_ERROR,
		questions_assert(&holding->questions, "sizeof(%s) == sizeof(%s)", c, like), key,
		"%s of %s:%u has another size: is a field missing at its end? "
		"\"partial\": true leaves the rest out",
		c, header_short_name(type->record->file), type->record->line);
}

/* ── enums ───────────────────────────────────────────────────────────────────────────────────── */

/* Hold one name of an enum, which the header has as an enumerator or a macro. */
static void hold_enumerator(struct walk *walk, uint32_t key)
{
	struct holding *holding = &walk->holding;
	uint32_t value = key + 1;
	char name[NAME_BYTES];
	size_t known = HOLD_ALWAYS;
	int64_t number;

	if (!read_name_text(walk->tape, key, name))
		return;
	if (json_type_at(walk->tape, value) == JSON_OBJECT) {
		if (!read_member(walk->tape, value, "c", name))
			return;
		value = find_held_member(walk, value, "value");
	}
	if (value == JSON_NONE || json_number_i64(walk->tape, value, &number) != 0)
		return;
	holding->guard = HOLD_ALWAYS;
	if (is_c_words(name))
		known = questions_add(&holding->questions,
			"enum { toolboxctl_known_%u = (%s) != 0 };", key, name);
	hold_note(holding, DIAGNOSTIC_WARNING, known, key,
		"'%s' is a constant in no header, so its value is not checked: its name in C is "
		"given by {\"value\": %lld, \"c\": \"NAME\"}",
		name, (long long)number);
	holding->guard = known;
	if (known != HOLD_ALWAYS)
		hold_note(holding, DIAGNOSTIC_ERROR,
			questions_assert(
				&holding->questions, "(%s) == (%lld)", name, (long long)number),
			key, "%lld is not the value that the header has for '%s'",
			(long long)number, name);
}

static void walk_enums(struct walk *walk)
{
	if (walk->enums == JSON_NONE)
		return;
	json_each_key(key, walk->tape, walk->enums)
		if (json_type_at(walk->tape, key + 1) == JSON_OBJECT)
			json_each_key(name, walk->tape, key + 1)
				hold_enumerator(walk, name);
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

static void walk_manifest(struct walk *walk)
{
	const struct json_tape *tape = walk->tape;
	uint32_t tools = json_find_typed_at(tape, 0, "tools", JSON_ARRAY);
	size_t n = 0;

	walk->structs = json_find_typed_at(tape, 0, "structs", JSON_OBJECT);
	walk->enums = json_find_typed_at(tape, 0, "enums", JSON_OBJECT);
	if (walk->structs != JSON_NONE)
		json_each_key(key, tape, walk->structs)
			walk_struct(walk, key, n++);
	walk_enums(walk);
	walk_steps(walk, json_find_typed_at(tape, 0, "init", JSON_ARRAY));
	json_each_found(at, tape, tools)
		walk_tool(walk, json_find_typed(tape, at, "native", JSON_OBJECT));
}

static void report_answers(const struct walk *walk, const struct diagnostic_sink *sink)
{
	const struct holding *holding = &walk->holding;
	const bool *answers = holding->questions.answers;

	for (size_t i = 0; i < holding->n_findings; i++) {
		const struct finding *finding = &holding->findings[i];
		cleanup(buffer_deinit) struct buffer pointer = {0};
		unsigned int line;
		unsigned int column;

		if ((finding->guard != HOLD_ALWAYS && !answers[finding->guard]) ||
			(finding->question != HOLD_ALWAYS && answers[finding->question]))
			continue;
		json_pointer_write(walk->tape, finding->at, &pointer);
		json_locate(
			walk->tape->text, json_at(walk->tape, finding->at)->offset, &line, &column);
		diagnostic_report(sink, finding->severity, walk->file, line,
			buffer_terminate(&pointer) ? pointer.data : "", "%s", finding->text);
	}
}

int against_header(const char *file, const struct json_tape *tape, const struct compiler *compiler,
	const struct diagnostic_sink *sink, struct buffer *messages)
{
	struct header header;
	struct walk walk = {.tape = tape, .file = file, .holding = {.header = &header}};
	int r = header_read(compiler, false, &header, messages);

	if (r)
		return r;
	walk_manifest(&walk);
	r = walk.holding.error;
	r = r ? r : questions_ask(&walk.holding.questions, compiler, messages);
	if (r == 0)
		report_answers(&walk, sink);
	holding_deinit(&walk.holding);
	header_deinit(&header);
	return r;
}
