/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Bytes that decide: each choice of the grammar takes one. After the end every choice is 0, which
 * is always the one that ends. */
struct choices {
	const uint8_t *at;
	const uint8_t *end;
};

/* Append the text of a schema in the language that schema_oracle.c knows. */
void generate_schema(struct choices *choices, struct buffer *out);

/* Append the text of a value that such schemas speak of. */
void generate_value(struct choices *choices, struct buffer *out);
