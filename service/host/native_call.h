/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>
#include <stdint.h>

#include "json/reader.h"
#include "registry/native.h"
#include "util/buffer.h"

/*
 * A C function that is ready to be called with JSON.
 *
 *   arguments ─tape─▶ slots ──libffi──▶ function ──▶ result, errno ──▶ JSON, or words of failure
 *
 * Everything that does not depend on the arguments is prepared once; a call that passes no larger
 * text than the ones before allocates nothing.
 */
struct native_call {
	struct native_function function;
	void *address;
	void (*free_result)(void *); /* NULL: transfer "none" */
	ffi_cif cif;
	ffi_type *types[NATIVE_PARAMETERS_MAX]; /* of the parameters; cif points here */
	struct json_tape *constants; /* per parameter its `value` or `default`; count 0: neither */
	size_t constants_size;       /* of all their texts, in bytes */
};

/* Where a parameter's value stands for libffi. */
union native_slot {
	uint8_t bool_;
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
	const char *str;
};

/* What calls use one after the other. Zeroed it is ready. */
struct native_scratch {
	struct json_tape tape;
	struct buffer strings; /* decoded, NUL-terminated */
	union native_slot slots[NATIVE_PARAMETERS_MAX];
	void *addresses[NATIVE_PARAMETERS_MAX]; /* of the slots */
};

enum native_call_status {
	NATIVE_CALL_E_FAILED = 1, /* the words stand in the buffer, instead of a result */
};

/* Prepare @call for the function at @address; @function is taken over. The struct must not move
 * afterwards. 0 or a negative errno; native_call_deinit in any case. */
int native_call_init(struct native_call *call, struct native_function *function, void *address,
	void (*free_result)(void *));
void native_call_deinit(struct native_call *call);

/* Call it with the JSON text @arguments, an object, and append the JSON text of the result to @out.
 * 0; NATIVE_CALL_E_FAILED with the words (UTF-8) appended instead; or a negative errno. */
int native_call_run(struct native_call *call, struct native_scratch *scratch, const char *arguments,
	size_t size, struct buffer *out);

void native_scratch_deinit(struct native_scratch *scratch);
