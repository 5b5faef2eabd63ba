/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>
#include <stdint.h>

#include "registry/native.h"
#include "util/buffer.h"

/*
 * What a C function returned, as JSON or as words.
 *
 * libffi widens integers that are smaller than a register to a whole ffi_arg, and writes all of it
 * whatever the type says: they are received in `word` and narrowed afterwards. Floats are not
 * widened.
 */
union native_result {
	ffi_arg word;
	int64_t i64;  /* every signed integer, once narrowed */
	uint64_t u64; /* every unsigned integer, and bool as 0 or 1, once narrowed */
	float f32;
	double f64;
	char *str;
};

enum native_result_status {
	NATIVE_RESULT_E_FAILED = 1, /* the call counts as failed */
};

/* Cut what libffi left in `word` to the width of @type. */
void native_result_narrow(union native_result *result, enum native_type type);

/* Append `{"name":value}`, or `{}` for void. NATIVE_RESULT_E_FAILED when an error rule hits, or
 * when the value is none that JSON can carry; what was appended then is to be dropped. Memory: see
 * buffer_status. */
int native_result_write(const struct native_function *function, const union native_result *result,
	int saved_errno, struct buffer *out);

/* Append why: `SYMBOL returned -1: EDOM (Numerical argument out of domain)`. */
void native_result_write_failure(const struct native_function *function,
	const union native_result *result, int saved_errno, struct buffer *out);
