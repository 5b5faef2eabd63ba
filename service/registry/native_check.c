/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/native.h"

#include <string.h>
#include <sys/types.h>

/*
 * Whether a JSON value can be passed as a C type, and what to say when it cannot. The same rule for
 * a default in a manifest, for an argument on its way to a host, and in the host before the call.
 */

static const char *signed_refusal(const struct json_tape *tape, uint32_t value, int64_t least,
	int64_t most, const char *words)
{
	int64_t number;

	if (json_type_at(tape, value) != JSON_NUMBER || json_number_i64(tape, value, &number))
		return words;
	return number < least || number > most ? words : NULL;
}

static const char *unsigned_refusal(
	const struct json_tape *tape, uint32_t value, uint64_t most, const char *words)
{
	uint64_t number;

	if (json_type_at(tape, value) != JSON_NUMBER || json_number_u64(tape, value, &number))
		return words;
	return number > most ? words : NULL;
}

#define I64_WORDS "must be an integer from -9223372036854775808 to 9223372036854775807"
#define I32_WORDS "must be an integer from -2147483648 to 2147483647"
#define U64_WORDS "must be an integer from 0 to 18446744073709551615"
#define U32_WORDS "must be an integer from 0 to 4294967295"

static const char *integer_refusal(
	enum native_type type, const struct json_tape *tape, uint32_t value)
{
	switch (type) {
	case NATIVE_I8:
		return signed_refusal(
			tape, value, INT8_MIN, INT8_MAX, "must be an integer from -128 to 127");
	case NATIVE_I16:
		return signed_refusal(tape, value, INT16_MIN, INT16_MAX,
			"must be an integer from -32768 to 32767");
	case NATIVE_I32:
		return signed_refusal(tape, value, INT32_MIN, INT32_MAX, I32_WORDS);
	case NATIVE_U8:
		return unsigned_refusal(tape, value, UINT8_MAX, "must be an integer from 0 to 255");
	case NATIVE_U16:
		return unsigned_refusal(
			tape, value, UINT16_MAX, "must be an integer from 0 to 65535");
	case NATIVE_U32:
		return unsigned_refusal(tape, value, UINT32_MAX, U32_WORDS);
	case NATIVE_U64:
		return unsigned_refusal(tape, value, UINT64_MAX, U64_WORDS);
	case NATIVE_ISIZE:
		return signed_refusal(tape, value, INTPTR_MIN, INTPTR_MAX,
			sizeof(ssize_t) == 8 ? I64_WORDS : I32_WORDS);
	case NATIVE_USIZE:
		return unsigned_refusal(
			tape, value, SIZE_MAX, sizeof(size_t) == 8 ? U64_WORDS : U32_WORDS);
	default:
		return signed_refusal(tape, value, INT64_MIN, INT64_MAX, I64_WORDS);
	}
}

static const char *string_refusal(
	const struct native_parameter *parameter, const struct json_tape *tape, uint32_t value)
{
	/* Raw control characters are no JSON: U+0000 can only stand there as an escape. */
	static const char escape[] = "\\u0000";
	const char *at = json_bytes(tape, value);
	const char *end = at + json_at(tape, value)->length;

	if (json_type_at(tape, value) != JSON_STRING)
		return parameter->is_nullable ? "must be a string or null" : "must be a string";
	if (!(json_at(tape, value)->flags & JSON_ESCAPED))
		return NULL;
	while ((at = memchr(at, '\\', (size_t)(end - at)))) {
		if ((size_t)(end - at) >= sizeof(escape) - 1 &&
			memcmp(at, escape, sizeof(escape) - 1) == 0)
			return "must be a string without U+0000";
		at += 2;
	}
	return NULL;
}

const char *native_refusal(
	const struct native_parameter *parameter, const struct json_tape *tape, uint32_t value)
{
	enum json_type type = json_type_at(tape, value);
	double wide;
	float narrow;

	if (type == JSON_NULL && parameter->is_nullable)
		return NULL;
	switch (parameter->type) {
	case NATIVE_BOOL:
		return type == JSON_TRUE || type == JSON_FALSE ? NULL : "must be true or false";
	case NATIVE_F32:
		return type == JSON_NUMBER && json_number_f32(tape, value, &narrow) == 0
			       ? NULL
			       : "must be a number within the range of a 32-bit float";
	case NATIVE_F64:
		return type == JSON_NUMBER && json_number_f64(tape, value, &wide) == 0
			       ? NULL
			       : "must be a number within the range of a 64-bit float";
	case NATIVE_STR:
		return string_refusal(parameter, tape, value);
	default:
		return integer_refusal(parameter->type, tape, value);
	}
}
