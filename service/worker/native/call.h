/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>

#include "call/native.h"
#include "util/buffer.h"
#include "worker/native/call_memory.h"
#include "worker/native/result.h"
#include "worker/native/structure.h"

/*
 * A C function, prepared to be called with JSON.
 *
 *   arguments ─tape─▶ memory ──libffi──▶ function ──▶ value, errno, memory ──▶ JSON or a failure
 *
 * Everything independent of the arguments is prepared once. A call without larger buffers than
 * earlier calls allocates nothing.
 */
struct native_call {
	struct native_function function;
	void *address;
	void (*free_result)(void *); /* NULL: transfer "none" */
	/* Free the value of each parameter handed over; NULL: transfer "none". */
	void (*free_handed[NATIVE_PARAMETERS_MAX])(void *);
	bool has_handed; /* a parameter is handed over with transfer "full" */
	/* g_error_free() of GLib, for a function that reports a GError; set by the caller. */
	void (*free_gerror)(void *);
	struct native_structure_types structure_types;
	void *returned; /* memory of a returned struct that is a value; or NULL */
	ffi_cif cif;
	ffi_type *types[NATIVE_PASSED_MAX]; /* one for each parameter; cif points here */
	struct json_tape *constants;        /* for each parameter its `value` or `default`; count 0:
					neither */
};

enum native_call_status {
	NATIVE_CALL_E_FAILED = 1, /* the buffer holds the text of the failure instead of a result */
};

/* Prepare @call for the function at @address and take @function over. The struct must not move
 * afterwards. Return 0 or a negative errno; the caller calls native_call_deinit() in both cases. */
int native_call_init(struct native_call *call, struct native_function *function, void *address,
	void (*free_result)(void *));
void native_call_deinit(struct native_call *call);

/* Let @free_value free what the function hands over in parameter @at. */
void native_call_free_handed(struct native_call *call, size_t at, void (*free_value)(void *));

/* Call the function with the values that native_call_memory_fill() has brought to @scratch, and
 * narrow what it returns. Return 0, or NATIVE_CALL_E_FAILED with the words of a GError appended to
 * @failure. */
int native_call_enter(struct native_call *call, struct native_scratch *scratch,
	union native_returned *ret_returned, int *ret_errno, struct buffer *failure);

/* Free what the call has handed over: in parameters, and the value that it has returned. */
void native_call_release(const struct native_call *call, const struct native_scratch *scratch,
	const union native_slot *returned);

/* Call the function with @arguments, the JSON text of an object, and append the JSON text of the
 * result to @out. Return 0, NATIVE_CALL_E_FAILED with the reason (UTF-8) appended instead, or a
 * negative errno. */
int native_call_run(struct native_call *call, struct native_scratch *scratch, const char *arguments,
	size_t size, struct buffer *out);
