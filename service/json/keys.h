/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/reader.h"
#include "util/siphash.h"

/*
 * Find a key twice in one object, in time linear in the number of keys, whatever the keys are: for
 * objects with too many keys to compare each with each.
 *
 * The object at @object is the last value on @tape, closed, with @used tokens in use in all; the
 * table is made after them, so the tape may grow (tape->tokens moves). Returns 0 with
 * *ret_duplicate the index of the first duplicate key, or JSON_NONE; or -ENOMEM.
 */
int json_keys_check(
	struct json_tape *tape, uint32_t used, uint32_t object, uint32_t *ret_duplicate);

/* The hash of the string at @index, decoded: equal strings have the same hash, however escaped, and
 * so do the decoded bytes under the same @secret (util/siphash). */
uint64_t json_string_hash(
	const struct json_tape *tape, uint32_t index, const struct siphash_key *secret);
