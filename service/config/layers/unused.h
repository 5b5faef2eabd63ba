/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/*
 * The unused values of a document, mistakes and what counts for nothing: their tokens, of values or
 * of keys, and the document without them.
 */
struct config_unused {
	struct buffer tokens; /* uint32_t, in any order until they are written */
};

/* Note that the key or value at @token is not used. */
void config_unused_add(struct config_unused *unused, uint32_t token);

/* Note all but the last of the members with one key, in each object in the value at @value. */
void config_unused_add_repeated(
	struct config_unused *unused, const struct json_tape *tape, uint32_t value);

/* Return whether all of the document is used. */
static inline bool config_unused_is_empty(const struct config_unused *unused)
{
	return unused->tokens.size == 0 && buffer_status(&unused->tokens) == 0;
}

/* Return whether the token was noted; they have been written. */
bool config_unused_has(const struct config_unused *unused, uint32_t token);

/* Append the value at @value as JSON without what is not used. The tape may be one of
 * json_tape_read_lax(). Return 0 or -ENOMEM. */
int config_unused_write_rest(struct config_unused *unused, const struct json_tape *tape,
	uint32_t value, struct buffer *out);

void config_unused_deinit(struct config_unused *unused);
