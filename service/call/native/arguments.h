/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/variables.h"

/*
 * Read the call at @object, which has `call`, `args` and `returns`, into @ret_invocation. A message
 * has no `returns` (@returns JSON_NONE and @is_message): it returns a str. The names of outs and of
 * the returned value are not set yet. 0 with the invocation owned by the caller
 * (native_invocation_deinit), NATIVE_E_REFUSED or -ENOMEM.
 */
int native_arguments_read(struct program_reading *reading, uint32_t object, uint32_t returns,
	bool is_message, struct native_invocation *ret_invocation);

/* Read the value at @object, described as a return value is, that a step reads through a pointer.
 * The members in @without (NULL after the last) are of the step. Return as native_arguments_read().
 * */
int native_arguments_read_value(struct program_reading *reading, uint32_t object,
	const char *const *without, struct native_invocation *ret_invocation);

/* Set the names of the outs of the call at @object (JSON_NONE: no call), and of its returned value
 * at @returns. */
int native_arguments_set(struct program_reading *reading, uint32_t object, uint32_t returns,
	const struct native_invocation *invocation);

/* Return whether both make the same call with the same values. */
bool native_invocation_equals(const struct native_invocation *a, const struct native_invocation *b);
