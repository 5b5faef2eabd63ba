/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/refusal.h"

/*
 * The strings of more than one step for the reader: with escapes, with characters above U+007F, or
 * wrong.
 */

/* Beside the flags of a token: the string holds U+0000. */
#define JSON_SEEN_NUL 0x100u

/* A flag for json_string_rest(): take half a surrogate pair, too. */
#define JSON_TAKE_HALVES 0x200u

/* Return the closing quote of the string around @at, a place outside of escapes and characters;
 * NULL with @fault filled for a refused string. Add JSON_ESCAPED, JSON_NON_ASCII and JSON_SEEN_NUL
 * of the bytes on the way to @flags. */
const char *json_string_rest(
	const char *at, const char *end, uint32_t *flags, struct json_fault *fault);
