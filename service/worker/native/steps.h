/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "worker/native/frame.h"

/*
 * Running a program, step after step.
 *
 *   arguments ─▶ frame 0     condition ─▶ fill ─▶ call ─▶ judge ─▶ keep     for each step
 *                            finallys of the steps that have succeeded, the last one first
 *                            result: values of frames as JSON
 */

enum native_steps_status {
	NATIVE_STEPS_E_FAILED = 1, /* the text of the failure was appended */
	NATIVE_STEPS_E_TOO_LARGE,  /* the object of a WIRE_ERROR was appended */
};

/* Prepare @steps for @program and @function, the parameters for callers, and take both over. Its
 * stages have no addresses yet. Return 0 or a negative errno; the caller calls
 * native_steps_deinit() in both cases. */
int native_steps_init(struct native_steps *steps, struct native_program *program,
	struct native_function *function);
void native_steps_deinit(struct native_steps *steps);

/* Make room in @frames for @steps. 0 or -ENOMEM. */
int native_frames_grow(struct native_frames *frames, const struct native_steps *steps);

/*
 * Run the program with @arguments, the JSON text of an object, and append the JSON text of the
 * result to @out. A result over @output_max bytes is too large. Return 0, a status with what it
 * describes appended instead, or a negative errno.
 */
int native_steps_run(struct native_steps *steps, struct native_frames *frames,
	const char *arguments, size_t size, size_t output_max, struct buffer *out);

/* Run the steps of `init`, without their finallys. Return as native_steps_run(). */
int native_steps_begin(
	struct native_steps *steps, struct native_frames *frames, struct buffer *failure);

/* Run the finallys that steps with success have left. Failures are logged. */
void native_steps_end(struct native_steps *steps, struct native_frames *frames);
