/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native.h"
#include "json/reader.h"
#include "util/buffer.h"
#include "worker/native/native_slot.h"

/*
 * What stands in memory for one call.
 *
 *   addresses[i] ──▶ slot                       a number that goes in
 *   addresses[i] ──▶ pointer ──▶ slot           a number that comes out
 *   addresses[i] ──▶ slot.buffer ──▶ memory     a str, bytes, json or array, in either direction
 *
 * All buffers of a call stand in one piece of memory, which is as large as they need before the
 * first of them is written and so never moves. Behind each that the function writes stand guard
 * bytes, which tell when it wrote more than the manifest says.
 */

/* One parameter. */
struct native_cell {
	union native_slot slot;
	void *pointer;                /* to the slot; NULL is passed when nothing came in */
	const struct json_tape *tape; /* where what comes in stands; NULL: nothing does */
	uint32_t value;
	size_t count;    /* of a buffer: elements that came in, without a text's NUL */
	size_t capacity; /* elements that it has room for */
};

/* What calls use one after the other. Zeroed it is ready. */
struct native_scratch {
	struct json_tape tape; /* of the arguments; then of a json that came out */
	struct buffer memory;
	struct native_cell cells[NATIVE_PARAMETERS_MAX];
	void *addresses[NATIVE_PARAMETERS_MAX]; /* for libffi */
};

/* A function whose constants (per parameter its `value` or `default`; count 0: neither) are read.
 */
struct native_signature {
	const struct native_function *function;
	const struct json_tape *constants;
};

enum native_call_memory_status {
	NATIVE_CALL_MEMORY_E_FAILED = 1, /* words were appended */
};

/* Put what the text @arguments, a JSON object, says where libffi and the function find it. Text
 * that is no such thing, or does not fit, is NATIVE_CALL_MEMORY_E_FAILED with words appended to @words;
 * memory that is short for the tape -ENOMEM. */
int native_call_memory_fill(const struct native_signature *signature,
	struct native_scratch *scratch, const char *arguments, size_t size, struct buffer *failure);

/* Whether the function has left alone what stands behind the buffer of parameter @at. */
bool native_call_memory_is_intact(
	const struct native_parameter *parameter, const struct native_cell *cell);

/* Give back what grew large for one call. */
void native_scratch_trim(struct native_scratch *scratch);

void native_scratch_deinit(struct native_scratch *scratch);
