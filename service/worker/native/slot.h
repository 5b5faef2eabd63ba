/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>
#include <stddef.h>
#include <stdint.h>

#include "call/native.h"
#include "json/reader.h"
#include "util/buffer.h"

/* A C value of any type: libffi passes it, a function writes it through a pointer, or (numbers
 * only) it is an element of an array. */
union native_slot {
	uint8_t bool_; /* libffi has no boolean type */
	int8_t i8;
	int16_t i16;
	int32_t i32;
	int64_t i64;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	ssize_t isize;
	size_t usize;
	float f32;
	double f64;
	char *buffer;
};

/* Return how libffi passes and returns the type. */
ffi_type *native_slot_ffi_type(enum native_type type);

/* Write the JSON value at @value, accepted by native_check_value() as the scalar @type, to @place,
 * in the size of the type; @place need not be aligned. */
void native_slot_store(
	enum native_type type, const struct json_tape *tape, uint32_t value, void *place);

/* The same for a scalar, an enum or flags. */
void native_slot_store_value(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, void *place);

/* Write @number, which fits, to @place as the integer @type. */
void native_slot_store_number(enum native_type type, uint64_t number, void *place);

/* Return the integer left by libffi in a register, cut to its type. libffi widens a smaller integer
 * to a whole ffi_arg, whatever the type; it does not widen floats. */
union native_slot native_slot_narrow(enum native_type type, ffi_arg word);

/* Return -1 or 0 if the scalar at @place is negative or zero, else 1 (NaN, too). */
int native_slot_sign(enum native_type type, const void *place);

/* Return the integer at @place, which is not negative. */
uint64_t native_slot_number(enum native_type type, const void *place);

/* Return the integer or bool at @place, of less than 64 bits or signed. */
int64_t native_slot_signed(enum native_type type, const void *place);

/* Return the name of a value without a number in JSON ("NaN", "infinity", "-infinity"), or NULL. */
const char *native_slot_odd_name(enum native_type type, const void *place);

/* Append the scalar at @place as JSON. */
void native_slot_write(enum native_type type, const void *place, struct buffer *out);

/* Return the name of the number of an enum at @place; NULL: it has none. */
const char *native_slot_name(const struct native_parameter *parameter, const void *place);

/* Append the enum or flags at @place as JSON: names, and numbers without a name. */
void native_slot_write_names(
	const struct native_parameter *parameter, const void *place, struct buffer *out);
