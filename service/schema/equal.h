/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"

struct schema_context;

/*
 * Whether two values, of any two tapes, are equal as JSON Schema has it (core section 4.2.2):
 * numbers by mathematical value, strings decoded, objects without regard to order. Takes steps from
 * @context; where they run out, false with the stop noted.
 */
bool equal_values(struct schema_context *context, const struct json_tape *a_tape, uint32_t a,
	const struct json_tape *b_tape, uint32_t b);

/* Two elements of an array. */
struct equal_pair {
	uint32_t first;
	uint32_t second; /* after it */
};

/* Whether two elements of the array at @index are equal, and which. Takes steps as above; where
 * they run out, false with the stop noted. (In unique.c.) */
bool equal_elements(struct schema_context *context, uint32_t index, struct equal_pair *ret_pair);
