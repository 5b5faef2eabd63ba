/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/variables.h"

/* Read the value at @token, constants and `$name`s, as a template, and append its
 * schema to @schema. Return 0 with the template owned by the caller (native_template_deinit),
 * NATIVE_E_REFUSED or -ENOMEM. */
int native_template_read(struct program_reading *reading, uint32_t token, struct buffer *schema,
	struct native_template *ret_template);

/* Make the usual result: an object of all variables that callers may see. @place is for mistakes.
 * */
int native_template_of_all(struct program_reading *reading, uint32_t place, struct buffer *schema,
	struct native_template *ret_template);

/* Add to the depth of each list that a repeat collects the depth at which the result has it. @place
 * is for a result that is too deep. */
int native_template_nest(struct program_reading *reading, uint32_t place);
