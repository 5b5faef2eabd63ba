/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native.h"

/* Check that the value at @value of @tape is a name of the enum @parameter, or an array of names of
 * the flags @parameter. Return as native_check_value(). */
int native_names_check(const struct native_parameter *parameter, const struct json_tape *tape,
	uint32_t value, struct buffer *words);
