/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/refusal.h"

/*
 * The strings that the reader cannot cross in one step: those with escapes, with characters above
 * U+007F, and those that are wrong.
 */

/* Beside the flags of a token: the string holds U+0000. */
#define JSON_SEEN_NUL 0x100u

/* A flag for json_string_rest(): take half a surrogate pair, too. */
#define JSON_TAKE_HALVES 0x200u

/* Return the closing quote of the string that @at is in, not inside an escape or a character; NULL
 * when it is refused, with @fault filled. Add JSON_ESCAPED, JSON_NON_ASCII and JSON_SEEN_NUL of the
 * bytes on the way to @flags. */
const char *json_string_rest(
	const char *at, const char *end, uint32_t *flags, struct json_fault *fault);
