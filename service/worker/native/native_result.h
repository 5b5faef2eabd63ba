/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>

#include "call/native.h"
#include "util/buffer.h"
#include "worker/native/native_call_memory.h"

/*
 * What a C function gave, as JSON or as words of failure.
 */

/* What it returned. libffi widens integers that are smaller than a register to a whole ffi_arg, and
 * writes all of it whatever the type says: they are received in `word` and narrowed afterwards.
 * Floats are not widened. */
union native_returned {
	ffi_arg word;
	union native_slot slot;
};

/* Cut what libffi left to the width of @type, into the slot. */
void native_result_narrow(union native_returned *returned, enum native_type type);

enum native_result_status {
	NATIVE_RESULT_E_FAILED = 1, /* the call counts as failed */
};

/*
 * Append an object of what was returned and what came out by the cells of @scratch; or, with
 * NATIVE_RESULT_E_FAILED, why there is none: an error rule hits
 * (`SYMBOL returned -1: EDOM (Numerical argument out of domain)`), or something is nothing that
 * JSON can carry. Or -ENOMEM.
 */
int native_result_write(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, int saved_errno, struct buffer *out);
