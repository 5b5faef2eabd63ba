/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"

/* Return whether the value at @a of @a_tape is the value at @b of @b_tape, as JSON Schema has it: 2
 * is 2.0, and members have no order. Two numbers may differ by @tolerance, at least 0; without one
 * they are compared exactly. */
bool values_are_close(const struct json_tape *a_tape, uint32_t a, const struct json_tape *b_tape,
	uint32_t b, double tolerance);
