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

/* Whether no two elements of the array at @index are equal. Takes steps as above. */
bool unique_elements(struct schema_context *context, uint32_t index);
