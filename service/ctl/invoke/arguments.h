/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ctl/invoke/words.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * The JSON object described by words of a command line, by the argument schema of the tool.
 *
 *   count=3           the text itself if the schema allows only a string; else JSON, else the text
 *   place.city=Porto  a member of the object `place`; place[city]=Porto is the same
 *   days=1,2          elements, where the schema has an array; so is days=1 days=2
 *   data=@FILE        base64 of the file, where the schema has that
 */

/*
 * Append the JSON object described by the @words. @schema is the tool's argument schema on @tape;
 * JSON_NONE: any value is allowed, and no key is nested. Return 0, WORDS_E_USAGE (also for a
 * repeated key outside of arrays), or -ENOMEM.
 */
int ctl_arguments_write(const struct words *words, const struct json_tape *tape, uint32_t schema,
	struct buffer *out, struct buffer *ret_reason);

/* Return 0 if the @size bytes at @text are a JSON object, else WORDS_E_USAGE with the reason. */
int ctl_arguments_check(const char *text, size_t size, struct buffer *ret_reason);

/* Return whether a value of @schema on @tape, with references within the schema @root, is bytes in
 * base64. */
bool ctl_arguments_are_bytes(const struct json_tape *tape, uint32_t root, uint32_t schema);

/* Return the schema of the property @key of @size bytes of @schema, or JSON_NONE. */
uint32_t ctl_arguments_find_property(
	const struct json_tape *tape, uint32_t root, uint32_t schema, const char *key, size_t size);
