/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/native/native_type_alias.h"

#include <stddef.h>
#include <string.h>

#include "util/array.h"

/* The types written by authors of manifests from habit. No similarity of names leads from them to
 * ours. */
static const struct {
	const char *written;
	const char *meant;
} types[] = {
	{"int", "i32"},
	{"unsigned", "u32"},
	{"unsigned int", "u32"},
	{"uint", "u32"},
	{"short", "i16"},
	{"unsigned short", "u16"},
	{"char", "i8"},
	{"unsigned char", "u8"},
	{"byte", "u8"},
	{"long", "isize"},
	{"unsigned long", "usize"},
	{"long long", "i64"},
	{"unsigned long long", "u64"},
	{"int8_t", "i8"},
	{"int16_t", "i16"},
	{"int32_t", "i32"},
	{"int64_t", "i64"},
	{"uint8_t", "u8"},
	{"uint16_t", "u16"},
	{"uint32_t", "u32"},
	{"uint64_t", "u64"},
	{"size_t", "usize"},
	{"ssize_t", "isize"},
	{"float", "f32"},
	{"double", "f64"},
	{"_Bool", "bool"},
	{"boolean", "bool"},
	{"char*", "str"},
	{"char *", "str"},
	{"const char*", "str"},
	{"const char *", "str"},
	{"string", "str"},
	{"integer", "i64"},
	{"number", "f64"},
	{"object", "json"},
	{"null", "void"},
};

const char *native_type_alias(const struct json_tape *tape, uint32_t token)
{
	if (json_type_at(tape, token) != JSON_STRING)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (json_string_equals(tape, token, types[i].written, strlen(types[i].written)))
			return types[i].meant;
	return NULL;
}
