/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * The names of arguments for Anthropic's API: ^[a-zA-Z0-9_.-]{1,64}$. It refuses a whole request
 * for another one ("Property keys should match pattern"), but only at the root of a schema. So an
 * optional argument with such a name is left out of the list for it, and a tool that requires such
 * a name has no place there.
 */

/* The most characters of the name of an argument. */
#define ANTHROPIC_NAME_BYTES 64

/* The most characters of refused names in a text. */
#define ANTHROPIC_REFUSED_CHARS 200

/* Return whether the API takes the name at @key of @tape. */
bool anthropic_takes_name(const struct json_tape *tape, uint32_t key);

/* Append the model schema (catalogue/model_schema.h) of the arguments described by @text, without
 * the names refused by the API. Return false, and append nothing, if a refused name is required.
 * @ret_refused, which the caller deinits, gets the refused names, `'a', 'b'`; for a tool without a
 * place only the required ones. */
bool anthropic_write_schema(const char *text, struct buffer *out, struct buffer *ret_refused);
