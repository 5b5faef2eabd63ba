/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/reading.h"
#include "json/number.h"

/*
 * An entry of `structs`, laid out as the C compiler lays out the same fields:
 *
 *   "entry": {"fields": [{"name": "id", "type": "u8"},
 *                        {"name": "name", "type": "str", "count": 5},
 *                        {"name": "weight", "type": "f64"}], "size": 16}
 *
 *   id  name  · ·  weight          each field at a multiple of its alignment; the size, one of the
 *   0   1     6    8      16       largest alignment
 */

#define FIELD_WORDS                                                                                \
	"must be one of bool, i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, f32, f64, str, " \
	"bytes, struct, enum, flags, handle"

/* The alignment of a type in a struct, which is less than its size on some machines. */
#define ALIGNMENT_IN_STRUCT(type)                                                                  \
	offsetof(                                                                                  \
		struct {                                                                           \
			char before;                                                               \
			type value;                                                                \
		},                                                                                 \
		value)

static size_t alignment_of(const struct native_field *field)
{
	switch (field->value.type) {
	case NATIVE_STRUCT:
		return field->value.structure->alignment;
	case NATIVE_I64:
	case NATIVE_U64:
		return ALIGNMENT_IN_STRUCT(int64_t);
	case NATIVE_F64:
		return ALIGNMENT_IN_STRUCT(double);
	case NATIVE_HANDLE:
		return alignof(void *);
	case NATIVE_STR:
		return field->count > 0 ? 1 : alignof(char *);
	default:
		return native_element_bytes(&field->value);
	}
}

/* Return a product of two numbers of at most NATIVE_STRUCT_BYTES_MAX, which may be too large for a
 * size_t of 32 bits. */
static uint64_t bytes_of(const struct native_field *field)
{
	uint64_t bytes = native_element_bytes(&field->value);

	if (field->value.type == NATIVE_STR && field->count == 0)
		bytes = sizeof(char *);
	return field->count > 0 ? bytes * field->count : bytes;
}

static size_t align(size_t offset, size_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

static int read_count(struct reading *reading, uint32_t object, struct native_field *field)
{
	uint32_t token = json_find(reading->tape, object, "count");
	uint64_t count;

	if (token == JSON_NONE && field->value.type == NATIVE_BYTES)
		return reading_refuse(
			reading, object, "'count' is missing: how many bytes the field has");
	if (token == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, token) != JSON_NUMBER ||
		json_number_u64(reading->tape, token, &count) || count == 0 ||
		count > NATIVE_STRUCT_BYTES_MAX)
		return reading_refuse(
			reading, token, "must be an integer from 1 to %d", NATIVE_STRUCT_BYTES_MAX);
	field->count = (size_t)count;
	return 0;
}

/* Check the keys of @field that depend on its type. */
static int check_field(struct reading *reading, uint32_t object, const struct native_field *field)
{
	bool is_pointer = field->value.type == NATIVE_HANDLE ||
			  (field->value.type == NATIVE_STR && field->count == 0);
	enum native_type type = field->value.type;

	if (type == NATIVE_VOID || type == NATIVE_JSON || type == NATIVE_ARRAY ||
		type == NATIVE_STRV)
		return reading_refuse_value(
			reading, json_find(reading->tape, object, "type"), FIELD_WORDS);
	if (field->value.is_nullable && !is_pointer)
		return reading_refuse(reading, json_find(reading->tape, object, "nullable"),
			"only a field with a pointer can be nullable, a str without 'count'");
	if (field->is_required && type == NATIVE_HANDLE)
		return reading_refuse(reading, json_find(reading->tape, object, "required"),
			"no caller passes a handle");
	return 0;
}

static int read_field(struct reading *reading, uint32_t object, struct native_field *field)
{
	static const char *const keys[] = {"name", "type", "description", "enum", "base", "struct",
		"count", "required", "nullable", "question", NULL};
	uint32_t name;
	int r = reading_check_keys(
		reading, object, "must be an object that describes a field", keys);

	if (r)
		return r;
	name = json_find(reading->tape, object, "name");
	if (name == JSON_NONE)
		return reading_refuse(reading, object, "'name' is missing: the field's");
	if ((r = reading_name(reading, name, &field->value.name)) ||
		(r = reading_type(reading, object, FIELD_WORDS, &field->value)) ||
		(r = reading_common(reading, object, &field->value)) ||
		(r = reading_bool(reading, object, "required", &field->is_required)) ||
		(r = read_count(reading, object, field)))
		return r;
	return check_field(reading, object, field);
}

/* Place the last field of @structure after the others. */
static int place_field(struct reading *reading, uint32_t object, struct native_struct *structure)
{
	struct native_field *field = &structure->fields[structure->n_fields - 1];
	const char *name = field->value.name;
	size_t alignment = alignment_of(field);
	uint64_t end;

	for (size_t i = 0; i + 1 < structure->n_fields; i++)
		if (strcmp(structure->fields[i].value.name, name) == 0)
			return reading_refuse(reading, json_find(reading->tape, object, "name"),
				"fields %zu and %zu are both called '%s'", i,
				structure->n_fields - 1, name);
	if (field->value.structure && field->value.structure->n_nested >= structure->n_nested)
		structure->n_nested = field->value.structure->n_nested + 1;
	if (field->value.structure && field->value.structure->is_partial)
		return reading_refuse(reading, json_find(reading->tape, object, "struct"),
			"a partial struct cannot be in another one");
	field->offset = align(structure->size, alignment);
	end = field->offset + bytes_of(field);
	if (alignment > structure->alignment)
		structure->alignment = alignment;
	if (end > NATIVE_STRUCT_BYTES_MAX || structure->n_nested > NATIVE_NESTED_MAX)
		return reading_refuse(reading, object,
			"a struct may have %d bytes, and %d structs in one another",
			NATIVE_STRUCT_BYTES_MAX, NATIVE_NESTED_MAX);
	structure->size = (size_t)end;
	return 0;
}

static int read_fields(struct reading *reading, uint32_t array, struct native_struct *structure)
{
	uint32_t count;

	if (json_type_at(reading->tape, array) != JSON_ARRAY)
		return reading_refuse_value(reading, array, "must be an array of fields");
	count = json_count(reading->tape, array);
	if (count == 0 || count > NATIVE_FIELDS_MAX)
		return reading_refuse(reading, array, "must have 1 to %d fields, not %u",
			NATIVE_FIELDS_MAX, count);
	structure->fields = calloc(count, sizeof(*structure->fields));
	if (!structure->fields)
		return -ENOMEM;
	json_each(i, reading->tape, array) {
		struct native_field *field = &structure->fields[structure->n_fields++];
		int r;

		reading_init(&field->value);
		r = read_field(reading, i, field);
		r = r ? r : place_field(reading, i, structure);
		if (r)
			return r;
	}
	return 0;
}

/* Read `size`: the bytes of all fields, or, for a partial struct, more bytes. */
static int read_struct_size(
	struct reading *reading, uint32_t object, struct native_struct *structure)
{
	uint32_t token = json_find(reading->tape, object, "size");
	size_t laid = align(structure->size, structure->alignment);
	uint64_t size;

	structure->size = laid;
	structure->has_size = token != JSON_NONE;
	if (token == JSON_NONE)
		return 0;
	if (json_type_at(reading->tape, token) != JSON_NUMBER ||
		json_number_u64(reading->tape, token, &size) || size > NATIVE_STRUCT_BYTES_MAX)
		return reading_refuse(
			reading, token, "must be an integer from 1 to %d", NATIVE_STRUCT_BYTES_MAX);
	if (structure->is_partial ? size < laid : size != laid)
		return reading_refuse(reading, token,
			"the fields take %zu bytes in C, the last of them from byte %zu on%s", laid,
			structure->fields[structure->n_fields - 1].offset,
			structure->is_partial ? "" : "; \"partial\": true, if others follow");
	structure->size = (size_t)size;
	return 0;
}

int reading_struct(struct reading *reading, uint32_t key, struct native_struct *structure)
{
	static const char *const keys[] = {"fields", "size", "partial", "c", NULL};
	const struct json_tape *tape = reading->tape;
	uint32_t object = key + 1;
	uint32_t fields;
	int r = reading_name(reading, key, &structure->name);

	r = r ? r : reading_check_keys(reading, object, "must be an object with 'fields'", keys);
	if (r)
		return r;
	fields = json_find(tape, object, "fields");
	if (fields == JSON_NONE)
		return reading_refuse(reading, object, "'fields' is missing: the fields, in order");
	structure->alignment = 1;
	structure->n_nested = 1;
	if ((r = reading_member_text(
		     reading, object, "c", "must be the struct's name in C", &structure->c)) ||
		(r = reading_bool(reading, object, "partial", &structure->is_partial)) ||
		(r = read_fields(reading, fields, structure)))
		return r;
	return read_struct_size(reading, object, structure);
}
