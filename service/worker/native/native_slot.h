/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>
#include <stddef.h>
#include <stdint.h>

#include "call/native.h"
#include "json/reader.h"
#include "util/buffer.h"

/* A value of any type, as C has it: what libffi passes, what a function writes by pointer, or (of
 * the types of numbers) an element of an array. */
union native_slot {
	uint8_t bool_; /* libffi has none of its own */
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

/* How libffi passes and returns the type. */
ffi_type *native_slot_ffi_type(enum native_type type);

/* Put the value at @value, which native_check_value() lets pass as the scalar @type, to @place: as
 * many bytes as the type has, which need not be aligned. */
void native_slot_store(
	enum native_type type, const struct json_tape *tape, uint32_t value, void *place);

/* Put @number, which fits, there as the integer @type. */
void native_slot_store_number(enum native_type type, uint64_t number, void *place);

/* What libffi left in a register for a returned integer, cut to its type (libffi widens what is
 * smaller to a whole ffi_arg, whatever the type says; floats are not widened). */
union native_slot native_slot_narrow(enum native_type type, ffi_arg word);

/* -1, 0 or 1 as the scalar at @place is negative, zero, or anything else (NaN). */
int native_slot_sign(enum native_type type, const void *place);

/* The integer at @place, which is not negative. */
uint64_t native_slot_number(enum native_type type, const void *place);

/* The name of what JSON has no number for: "NaN", "infinity", "-infinity"; NULL: it has. */
const char *native_slot_odd_name(enum native_type type, const void *place);

/* Append the scalar at @place as JSON. */
void native_slot_write(enum native_type type, const void *place, struct buffer *out);
