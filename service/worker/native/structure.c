/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/structure.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/text/base64.h"
#include "worker/native/slot.h"

size_t native_structure_bound(const struct json_tape *tape, uint32_t value)
{
	size_t size;

	/* Each text has two quotes there, and one NUL in memory. */
	json_value_text(tape, value, &size);
	return size;
}

/* Append the text at @value with its NUL to @memory, and return it there. */
static char *append_characters(const struct json_tape *tape, uint32_t value, struct buffer *memory)
{
	size_t start = memory->size;

	json_string_decode(tape, value, memory);
	buffer_append_char(memory, '\0');
	return memory->data + start;
}

/* Write text or bytes to the field itself. They are decoded in @memory, which is then as before. */
static void store_characters(const struct native_field *field, const struct json_tape *tape,
	uint32_t value, char *place, struct buffer *memory)
{
	size_t start = memory->size;
	char *text = append_characters(tape, value, memory);
	size_t size = memory->size - start - 1;

	if (field->value.type == NATIVE_BYTES)
		base64_decode(text, size, place);
	else
		memcpy(place, text, size);
	memory->size = start;
}

/* Write a single value, of a field or of an element. */
static void store_single(const struct native_field *field, const struct json_tape *tape,
	uint32_t value, char *place, struct buffer *memory)
{
	if (field->value.type == NATIVE_STRUCT) {
		native_structure_store(field->value.structure, tape, value, place, memory);
	} else if (field->value.type == NATIVE_STR) {
		char *text = append_characters(tape, value, memory);

		memcpy(place, &text, sizeof(text));
	} else {
		native_slot_store_value(&field->value, tape, value, place);
	}
}

static void store_field(const struct native_field *field, const struct json_tape *tape,
	uint32_t value, char *place, struct buffer *memory)
{
	size_t bytes = native_element_bytes(&field->value);

	if (json_type_at(tape, value) == JSON_NULL)
		return;
	if (field->count == 0) {
		store_single(field, tape, value, place, memory);
		return;
	}
	if (native_is_buffer(field->value.type)) {
		store_characters(field, tape, value, place, memory);
		return;
	}
	json_each(i, tape, value) {
		store_single(field, tape, i, place, memory);
		place += bytes;
	}
}

void native_structure_store(const struct native_struct *structure, const struct json_tape *tape,
	uint32_t value, char *place, struct buffer *memory)
{
	for (size_t i = 0; i < structure->n_fields; i++) {
		const struct native_field *field = &structure->fields[i];
		uint32_t member = json_find(tape, value, field->value.name);

		if (member != JSON_NONE)
			store_field(field, tape, member, place + field->offset, memory);
	}
}

/* Return how many values of its type the field has. */
static size_t repeats(const struct native_field *field)
{
	return field->count > 0 ? field->count : 1;
}

void native_structure_copy_handles(
	const struct native_struct *structure, const char *from, char *place)
{
	for (size_t i = 0; i < structure->n_fields; i++) {
		const struct native_field *field = &structure->fields[i];
		size_t bytes = native_element_bytes(&field->value);
		size_t at = field->offset;

		for (size_t n = repeats(field); n > 0; n--, at += bytes) {
			if (field->value.type == NATIVE_HANDLE)
				memcpy(place + at, from + at, bytes);
			else if (field->value.type == NATIVE_STRUCT)
				native_structure_copy_handles(
					field->value.structure, from + at, place + at);
			else
				break;
		}
	}
}

size_t native_structure_texts(const struct native_struct *structure, const char *place, size_t most)
{
	size_t total = 0;

	for (size_t i = 0; i < structure->n_fields && total <= most; i++) {
		const struct native_field *field = &structure->fields[i];
		const char *at = place + field->offset;
		const char *text;

		if (field->value.type == NATIVE_STR && field->count == 0) {
			memcpy(&text, at, sizeof(text));
			total += text ? strnlen(text, most) + 1 : 0;
		} else if (field->value.type == NATIVE_STRUCT) {
			for (size_t n = repeats(field); n > 0 && total <= most; n--) {
				total += native_structure_texts(
					field->value.structure, at, most - total);
				at += field->value.structure->size;
			}
		}
	}
	return total;
}

char *native_structure_own_texts(const struct native_struct *structure, char *place, char *texts)
{
	for (size_t i = 0; i < structure->n_fields; i++) {
		const struct native_field *field = &structure->fields[i];
		char *at = place + field->offset;
		const char *text;

		if (field->value.type == NATIVE_STR && field->count == 0) {
			memcpy(&text, at, sizeof(text));
			if (!text)
				continue;
			memcpy(at, &texts, sizeof(texts));
			texts = stpcpy(texts, text) + 1;
		} else if (field->value.type == NATIVE_STRUCT) {
			for (size_t n = repeats(field); n > 0; n--) {
				texts = native_structure_own_texts(
					field->value.structure, at, texts);
				at += field->value.structure->size;
			}
		}
	}
	return texts;
}

static ffi_type *element_type(
	struct native_structure_types *types, const struct native_field *field)
{
	if (field->value.type == NATIVE_STRUCT)
		return native_structure_ffi_type(types, field->value.structure);
	if (native_is_buffer(field->value.type) && field->count > 0)
		return &ffi_type_uint8;
	return native_slot_ffi_type(field->value.type);
}

ffi_type *native_structure_ffi_type(
	struct native_structure_types *types, const struct native_struct *structure)
{
	size_t count = 1;
	ffi_type **element;
	ffi_type *type;

	for (size_t i = 0; i < structure->n_fields; i++)
		count += repeats(&structure->fields[i]);
	type = calloc(1, sizeof(*type) + count * sizeof(*type->elements));
	if (!type || array_grow(types->items, types->n_items) < 0) {
		free(type);
		return NULL;
	}
	types->items[types->n_items++] = type;
	type->type = FFI_TYPE_STRUCT;
	type->elements = (ffi_type **)(void *)(type + 1);
	element = type->elements;
	for (size_t i = 0; i < structure->n_fields; i++) {
		ffi_type *found = element_type(types, &structure->fields[i]);

		if (!found)
			return NULL;
		for (size_t j = repeats(&structure->fields[i]); j > 0; j--)
			*element++ = found;
	}
	return type;
}

void native_structure_types_deinit(struct native_structure_types *types)
{
	for (size_t i = 0; i < types->n_items; i++)
		free(types->items[i]);
	free(types->items);
}
