/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>

#include "call/native.h"
#include "util/buffer.h"
#include "worker/native/call_memory.h"

/*
 * The result of a C function, as JSON or as the text of a failure.
 */

/* The return value. libffi widens an integer smaller than a register to a whole ffi_arg and writes
 * the whole, whatever the type. So integers are received in `word` and narrowed afterwards. Floats
 * are not widened. */
union native_returned {
	ffi_arg word;
	union native_slot slot;
};

/* Cut the word written by libffi to the width of @type, in the slot. */
void native_result_narrow(union native_returned *returned, enum native_type type);

enum native_result_status {
	NATIVE_RESULT_E_FAILED = 1, /* the call counts as failed */
};

/*
 * Append an object with the return value and the output parameters in the cells of @scratch. Return
 * 0; NATIVE_RESULT_E_FAILED with the reason appended instead, if an error rule of the manifest
 * applies (`SYMBOL returned -1: EDOM (Numerical argument out of domain)`) or JSON cannot represent
 * a value; or -ENOMEM.
 */
int native_result_write(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, int saved_errno, struct buffer *out);

/* The parts of native_result_write(), for a call among others, with the same results: */

/* Judge a call by its guards and its error rule. */
int native_result_judge(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, int saved_errno, struct buffer *out);

/* Find how many elements of the output buffer @at are used, of a text without its NUL. */
int native_result_find_used(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, size_t at, size_t *ret_used, struct buffer *out);

/* Find how many elements a buffer of the function, handed or returned, has: NATIVE_UNBOUNDED of a
 * text up to its NUL. */
int native_result_find_size(const struct native_function *function, struct native_scratch *scratch,
	const union native_slot *returned, const struct native_parameter *parameter,
	uint64_t *ret_count, struct buffer *out);

/* Append the value in @cell, which has `count` elements, as JSON inside of @depth objects and
 * arrays. */
int native_result_write_value(const struct native_function *function,
	struct native_scratch *scratch, const struct native_parameter *parameter,
	const struct native_cell *cell, size_t depth, struct buffer *out);

/* Return whether @rule and @number describe the returned value. */
bool native_result_fits(enum native_errors rule, uint64_t number, enum native_type type,
	const union native_slot *returned);
