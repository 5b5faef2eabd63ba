/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The names of arguments that Anthropic's API takes: ^[a-zA-Z0-9_.-]{1,64}$. It refuses a whole
 * request for another one ("Property keys should match pattern"), but only at the root of a schema.
 * So an optional argument with such a name is left out of the list for it, and a tool that requires
 * one has no place there.
 */

/* The most characters of refused names that a text repeats. */
#define ANTHROPIC_REFUSED_CHARS 200

/* Return whether the API takes the name at @key of @tape. */
bool anthropic_takes_name(const struct json_tape *tape, uint32_t key);

/* Append the model schema (catalogue/model_schema.h) of the arguments that @text describes without
 * those that the API refuses. Return false, and append nothing, if one of them is required.
 * @ret_refused, which the caller deinits, gets the names that are refused, `'a', 'b'`; of a tool
 * that has no place those that are required. */
bool anthropic_write_schema(const char *text, struct buffer *out, struct buffer *ret_refused);
