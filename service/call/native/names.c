/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/names.h"

#include <string.h>

#include "json/number.h"

/*
 * Names in the place of numbers.
 *
 *   enum    "medium"                             1
 *   flags   ["read", "write", {"unknown": 64}]   1 | 2 | 64
 *
 * An argument is a name of the table. A function may return a number without a name: an enum is
 * then a number, and flags have the rest of their bits as a last element.
 */

#define UNKNOWN "unknown"

/* The most names in a message. */
#define NAMES_SHOWN_MAX 16

const struct native_named *native_enum_find(
	const struct native_enum *enumeration, const struct json_tape *tape, uint32_t token)
{
	for (size_t i = 0; json_type_at(tape, token) == JSON_STRING && i < enumeration->n_values;
		i++) {
		const char *name = enumeration->values[i].name;

		/* A default is the root of its text. */
		if (json_string_equals(tape, token, name, strlen(name)))
			return &enumeration->values[i];
	}
	return NULL;
}

const char *native_enum_name(const struct native_enum *enumeration, uint64_t bits)
{
	for (size_t i = 0; i < enumeration->n_values; i++)
		if (enumeration->values[i].bits == bits)
			return enumeration->values[i].name;
	return NULL;
}

/* Return whether the element at @token of flags is {"unknown": BITS}, with at most @most. */
static bool read_unknown(
	const struct json_tape *tape, uint32_t token, uint64_t most, uint64_t *ret_bits)
{
	uint32_t value;

	if (json_type_at(tape, token) != JSON_OBJECT || json_count(tape, token) != 1)
		return false;
	value = json_find(tape, token, UNKNOWN);
	return value != JSON_NONE && json_type_at(tape, value) == JSON_NUMBER &&
	       json_number_u64(tape, value, ret_bits) == 0 && *ret_bits <= most;
}

uint64_t native_flags_number(
	const struct native_enum *enumeration, const struct json_tape *tape, uint32_t value)
{
	uint64_t number = 0;

	json_each(i, tape, value) {
		const struct native_named *named = native_enum_find(enumeration, tape, i);
		uint64_t bits = 0;

		if (!named)
			read_unknown(tape, i, UINT64_MAX, &bits);
		number |= named ? named->bits : bits;
	}
	return number;
}

static int refuse_name(const struct native_parameter *parameter, struct buffer *words)
{
	const struct native_enum *enumeration = parameter->enumeration;

	buffer_append_string(words, parameter->is_flags ? "must be an array of different names of "
							: "must be one of ");
	for (size_t i = 0; i < enumeration->n_values && i < NAMES_SHOWN_MAX; i++)
		buffer_printf(words, "%s%s", i > 0 ? ", " : "", enumeration->values[i].name);
	buffer_append_string(words, enumeration->n_values > NAMES_SHOWN_MAX ? ", …" : "");
	return NATIVE_E_REFUSED;
}

/* Return whether the element at @token is in the array at @array before. */
static bool is_again(const struct json_tape *tape, uint32_t array, uint32_t token,
	const struct native_named *named)
{
	for (uint32_t i = json_first(tape, array); i < token; i = json_next(tape, i))
		if (named ? json_type_at(tape, i) == JSON_STRING &&
					json_string_equals(
						tape, i, named->name, strlen(named->name))
			  : json_type_at(tape, i) == JSON_OBJECT)
			return true;
	return false;
}

int native_names_check(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words)
{
	const struct native_enum *enumeration = parameter->enumeration;
	uint64_t bits;

	if (!parameter->is_flags)
		return native_enum_find(enumeration, tape, value) ? 0
								  : refuse_name(parameter, words);
	if (json_type_at(tape, value) != JSON_ARRAY ||
		json_count(tape, value) > enumeration->n_values + 1)
		return refuse_name(parameter, words);
	json_each(i, tape, value) {
		const struct native_named *named = native_enum_find(enumeration, tape, i);

		if (!named && !read_unknown(tape, i, native_integer_mask(parameter->type), &bits))
			return refuse_name(parameter, words);
		if (is_again(tape, value, i, named))
			return refuse_name(parameter, words);
	}
	return 0;
}
