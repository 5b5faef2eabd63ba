/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ffi.h>

#include "call/native.h"
#include "util/buffer.h"
#include "worker/native/native_call_memory.h"

/*
 * A C function that is ready to be called with JSON.
 *
 *   arguments ─tape─▶ frame ──libffi──▶ function ──▶ value, errno, frame ──▶ JSON, or words
 *
 * Everything that does not depend on the arguments is prepared once; a call that passes no larger
 * buffers than the ones before allocates nothing.
 */
struct native_call {
	struct native_function function;
	void *address;
	void (*free_result)(void *); /* NULL: transfer "none" */
	ffi_cif cif;
	ffi_type *types[NATIVE_PARAMETERS_MAX]; /* of the parameters; cif points here */
	struct json_tape *constants; /* per parameter its `value` or `default`; count 0: neither */
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
