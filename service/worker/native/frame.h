/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/program.h"
#include "util/buffer.h"
#include "worker/native/call.h"

/*
 * The memory of one step, and of a whole program (docs/native-program.md).
 *
 *   frames[0]       the arguments of the caller
 *   frames[i + 1]   step i
 *   frames[n + 1]   a finally or a message, while it runs
 */
struct native_frame {
	struct native_scratch scratch;
	union native_returned returned;
	struct native_cell value; /* the returned value; of a buffer the copy */
	struct buffer kept;       /* copies of buffers and structs of the library */
	struct buffer collected;  /* elements collected by a repeat, each after a comma */
	bool is_set;              /* the step has run; before that its values are NULL and 0 */
	bool is_owed;             /* its finally has to run */
};

struct native_frames {
	struct native_frame *frames; /* owned */
	size_t n_frames;
};

/* The calls of one step. */
struct native_stage {
	struct native_call call;
	struct native_call finally; /* without an address: no call */
	struct native_call message;
};

/* A program with the addresses of its functions. */
struct native_steps {
	struct native_program *program;  /* owned; its functions are in the stages */
	struct native_function function; /* the parameters for callers */
	struct json_tape *constants;     /* their defaults; owned */
	struct native_stage *stages;     /* one for each step; owned */
	/* `init`, which has run; or NULL */
	const struct native_steps *process;
	const struct native_frames *process_frames;
};

/* The value of a variable: its type, its cell, and the frame with both. */
struct native_found {
	const struct native_parameter *type;
	const struct native_function *function;
	struct native_frame *frame;
	const struct native_cell *cell;
	struct native_cell field; /* the cell of a field, which is in no frame */
	bool is_handle;
	bool is_null;  /* it is not set, or NULL */
	bool is_freed; /* the library's own was freed after the copy, or the whole of a field */
	const char *refusal; /* a field that cannot be passed on: "is NULL"; or NULL */
};

/* Find the value of the variable @variable. *ret_found is not to be moved. */
void native_frame_find(const struct native_steps *steps, const struct native_frames *frames,
	int variable, struct native_found *ret_found);

/* Return whether the value is NULL, 0 or empty. */
bool native_frame_is_empty(const struct native_found *found);

/* Append the value of a variable that callers may see as JSON, inside of @depth objects and arrays.
 * Return as native_result_write(). */
int native_frame_write(const struct native_found *found, size_t depth, struct buffer *out);

/*
 * Bring the values of the parameters of @call from @sources, into @frame. Return 0;
 * NATIVE_CALL_E_FAILED with the reason appended to @failure, as a number that does not fit; or
 * -ENOMEM.
 */
int native_frame_fill(const struct native_steps *steps, const struct native_frames *frames,
	const struct native_call *call, const struct native_source *sources,
	struct native_frame *frame, struct buffer *failure);

/* Keep the values that the call of step @step has left in @frame: copy what belongs to the library,
 * free what it has handed over, and refuse NULL where the step cannot have it. After a failure
 * nothing is freed. @size is the number of elements of returned bytes or of an array.
 * Return as native_frame_fill(). */
int native_frame_keep(const struct native_steps *steps, size_t step, struct native_frame *frame,
	size_t size, struct buffer *failure);

/* Free memory grown large for one call. */
void native_frame_trim(struct native_frame *frame);

void native_frames_deinit(struct native_frames *frames);
