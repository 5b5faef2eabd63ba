/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/slot.h"

#include <math.h>
#include <string.h>

#include "json/number.h"
#include "json/writer.h"

/* Conversion between JSON and the numeric C types. */

ffi_type *native_slot_ffi_type(enum native_type type)
{
	switch (type) {
	case NATIVE_VOID:
		return &ffi_type_void;
	case NATIVE_BOOL:
	case NATIVE_U8:
		return &ffi_type_uint8;
	case NATIVE_I8:
		return &ffi_type_sint8;
	case NATIVE_I16:
		return &ffi_type_sint16;
	case NATIVE_I32:
		return &ffi_type_sint32;
	case NATIVE_I64:
		return &ffi_type_sint64;
	case NATIVE_U16:
		return &ffi_type_uint16;
	case NATIVE_U32:
		return &ffi_type_uint32;
	case NATIVE_U64:
		return &ffi_type_uint64;
	case NATIVE_ISIZE:
		return sizeof(ssize_t) == 8 ? &ffi_type_sint64 : &ffi_type_sint32;
	case NATIVE_USIZE:
		return sizeof(size_t) == 8 ? &ffi_type_uint64 : &ffi_type_uint32;
	case NATIVE_F32:
		return &ffi_type_float;
	case NATIVE_F64:
		return &ffi_type_double;
	case NATIVE_HANDLE:
	case NATIVE_STRV:
	case NATIVE_STRUCT:
	case NATIVE_STR:
	case NATIVE_BYTES:
	case NATIVE_JSON:
	case NATIVE_ARRAY:
		return &ffi_type_pointer;
	}
	return &ffi_type_void;
}

/* memcpy() of a number, without a call for the usual sizes. */
static void copy(void *to, const void *from, size_t size)
{
	if (size == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else if (size == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else
		memcpy(to, from, size);
}

/* Return a slot with the low bits of @bits, as many as the integer type has (two's complement). */
static union native_slot slot_of(enum native_type type, uint64_t bits)
{
	union native_slot slot = {.u64 = 0};

	switch (native_type_bytes(type)) {
	case sizeof(uint8_t):
		slot.u8 = (uint8_t)bits;
		break;
	case sizeof(uint16_t):
		slot.u16 = (uint16_t)bits;
		break;
	case sizeof(uint32_t):
		slot.u32 = (uint32_t)bits;
		break;
	default:
		slot.u64 = bits;
		break;
	}
	return slot;
}

void native_slot_store_number(enum native_type type, uint64_t number, void *place)
{
	union native_slot slot = slot_of(type, number);

	copy(place, &slot, native_type_bytes(type));
}

void native_slot_store(
	enum native_type type, const struct json_tape *tape, uint32_t value, void *place)
{
	union native_slot slot = {.u64 = 0};

	switch (type) {
	case NATIVE_BOOL:
		slot.bool_ = json_is_true(tape, value);
		break;
	case NATIVE_F32:
		json_number_f32(tape, value, &slot.f32);
		break;
	case NATIVE_F64:
		json_number_f64(tape, value, &slot.f64);
		break;
	default:
		if (native_is_signed(type))
			json_number_i64(tape, value, &slot.i64);
		else
			json_number_u64(tape, value, &slot.u64);
		slot = slot_of(type, slot.u64);
		break;
	}
	copy(place, &slot, native_type_bytes(type));
}

void native_slot_store_value(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, void *place)
{
	const struct native_enum *enumeration = parameter->enumeration;

	if (!enumeration)
		native_slot_store(parameter->type, tape, value, place);
	else
		native_slot_store_number(parameter->type,
			parameter->is_flags ? native_flags_number(enumeration, tape, value)
					    : native_enum_find(enumeration, tape, value)->bits,
			place);
}

union native_slot native_slot_narrow(enum native_type type, ffi_arg word)
{
	return slot_of(type, word);
}

/* Return a slot with the bytes at @place. */
static union native_slot load_slot(enum native_type type, const void *place)
{
	union native_slot slot = {.u64 = 0};

	copy(&slot, place, native_type_bytes(type));
	return slot;
}

static int64_t signed_value(enum native_type type, const void *place)
{
	union native_slot slot = load_slot(type, place);

	switch (native_type_bytes(type)) {
	case sizeof(int8_t):
		return slot.i8;
	case sizeof(int16_t):
		return slot.i16;
	case sizeof(int32_t):
		return slot.i32;
	default:
		return slot.i64;
	}
}

uint64_t native_slot_number(enum native_type type, const void *place)
{
	union native_slot slot = load_slot(type, place);

	switch (native_type_bytes(type)) {
	case sizeof(uint8_t):
		return slot.u8;
	case sizeof(uint16_t):
		return slot.u16;
	case sizeof(uint32_t):
		return slot.u32;
	default:
		return slot.u64;
	}
}

static double float_value(enum native_type type, const void *place)
{
	union native_slot slot = load_slot(type, place);

	return type == NATIVE_F32 ? (double)slot.f32 : slot.f64;
}

static bool is_float(enum native_type type)
{
	return type == NATIVE_F32 || type == NATIVE_F64;
}

int native_slot_sign(enum native_type type, const void *place)
{
	if (is_float(type))
		return float_value(type, place) < 0 ? -1 : float_value(type, place) != 0;
	if (native_is_signed(type) && signed_value(type, place) < 0)
		return -1;
	return native_slot_number(type, place) != 0;
}

/* Return the number at @place as 64 bits: two's complement. */
static uint64_t bits_at(enum native_type type, const void *place)
{
	return native_is_signed(type) ? (uint64_t)signed_value(type, place)
				      : native_slot_number(type, place);
}

int64_t native_slot_signed(enum native_type type, const void *place)
{
	return (int64_t)bits_at(type, place);
}

const char *native_slot_name(const struct native_parameter *parameter, const void *place)
{
	return native_enum_name(parameter->enumeration, bits_at(parameter->type, place));
}

/* Append each name with a bit without a name so far, then the rest of the bits. */
static void write_flags(
	const struct native_parameter *parameter, const void *place, struct buffer *out)
{
	const struct native_enum *enumeration = parameter->enumeration;
	uint64_t number = native_slot_number(parameter->type, place);
	uint64_t rest = number;
	char before = '[';

	for (size_t i = 0; rest && i < enumeration->n_values; i++) {
		uint64_t bits = enumeration->values[i].bits;

		if ((number & bits) != bits || (rest & bits) == 0)
			continue;
		buffer_append_char(out, before);
		json_write_text(out, enumeration->values[i].name);
		before = ',';
		rest &= ~bits;
	}
	if (rest)
		buffer_printf(out, "%c{\"unknown\":%llu}", before, (unsigned long long)rest);
	buffer_append_string(out, rest || before == ',' ? "]" : "[]");
}

void native_slot_write_names(
	const struct native_parameter *parameter, const void *place, struct buffer *out)
{
	const char *name = parameter->is_flags ? NULL : native_slot_name(parameter, place);

	if (parameter->is_flags)
		write_flags(parameter, place, out);
	else if (name)
		json_write_text(out, name);
	else
		native_slot_write(parameter->type, place, out);
}

const char *native_slot_odd_name(enum native_type type, const void *place)
{
	double value = is_float(type) ? float_value(type, place) : 0;

	if (isnan(value))
		return "NaN";
	if (isinf(value))
		return value < 0 ? "-infinity" : "infinity";
	return NULL;
}

void native_slot_write(enum native_type type, const void *place, struct buffer *out)
{
	if (type == NATIVE_BOOL)
		buffer_append_string(out, native_slot_number(type, place) ? "true" : "false");
	else if (type == NATIVE_F32)
		json_write_f32(out, load_slot(type, place).f32);
	else if (type == NATIVE_F64)
		json_write_f64(out, load_slot(type, place).f64);
	else if (native_is_signed(type))
		json_write_i64(out, signed_value(type, place));
	else
		json_write_u64(out, native_slot_number(type, place));
}
