/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native.h"
#include "json/reader.h"
#include "util/buffer.h"
#include "worker/native/slot.h"

/*
 * The memory of one native call.
 *
 *   addresses[i] ──▶ slot                       a number that goes in
 *   addresses[i] ──▶ pointer ──▶ slot           a number that comes out
 *   addresses[i] ──▶ slot.buffer ──▶ memory     a str, bytes, json or array, in either direction
 *
 * All buffers of a call are in one block of memory. It is as large as they need before the first of
 * them is written, so it never moves. Guard bytes follow each buffer written by the function; they
 * reveal writes beyond the manifest.
 */

/* One parameter. */
struct native_cell {
	union native_slot slot;
	void *pointer;                /* to the slot; NULL is passed when there is no input */
	const struct json_tape *tape; /* tape of the input; NULL: no input */
	uint32_t value;
	size_t count;    /* buffers: elements of the input, without the NUL of a text */
	size_t capacity; /* buffers: elements with room */
};

/* Most values passed to a function: the parameters and a GError **. */
#define NATIVE_PASSED_MAX (NATIVE_PARAMETERS_MAX + 1)

/* Memory reused from call to call. A zeroed struct is ready. */
struct native_scratch {
	struct json_tape tape; /* the arguments; afterwards a json that came out */
	struct buffer memory;
	struct native_cell cells[NATIVE_PARAMETERS_MAX];
	void *addresses[NATIVE_PASSED_MAX];  /* for libffi */
	uint8_t laid[NATIVE_PARAMETERS_MAX]; /* parameters whose buffers this call lays out */
	size_t n_laid;
	bool has_outputs; /* a parameter of the call comes out */
};

/* The value of a parameter from another step. */
struct native_given {
	bool is_given; /* false: from the arguments or the constants */
	struct native_cell cell;
	size_t capacity; /* capacity of a buffer in place of the manifest's; 0: none */
};

/* A function with its constants parsed (for each parameter `value` or `default`; count 0:
 * neither). */
struct native_signature {
	const struct native_function *function;
	const struct json_tape *constants;
	const struct native_given *given; /* for each parameter; NULL: one function alone */
};

enum native_call_memory_status {
	NATIVE_CALL_MEMORY_E_FAILED = 1, /* a failure was appended */
};

/* Write the arguments (@arguments, the JSON text of an object; NULL: none) to where libffi and the
 * function find them. Return 0; NATIVE_CALL_MEMORY_E_FAILED with a text appended to @failure if
 * @arguments is not such an object or does not fit; or -ENOMEM for the tape. */
int native_call_memory_fill(const struct native_signature *signature,
	struct native_scratch *scratch, const char *arguments, size_t size, struct buffer *failure);

/* Return whether the function left the guard bytes after the buffer of @parameter unchanged. */
bool native_call_memory_is_intact(
	const struct native_parameter *parameter, const struct native_cell *cell);

/* Free memory grown large for one call. */
void native_scratch_trim(struct native_scratch *scratch);

void native_scratch_deinit(struct native_scratch *scratch);
