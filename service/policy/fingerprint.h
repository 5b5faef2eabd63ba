/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"

/*
 * The fingerprint of a call: what a person approves, in sixteen characters. The same tool and
 * arguments, however written (json/canonical.h), have the same fingerprint:
 *
 *   SHA-256("NAME:" + canonical arguments), the first 16 hexadecimal digits
 *
 * Where arguments are hidden, the masked ones are used, with a key of the process mixed in
 * (HMAC-SHA256), so short secrets cannot be tried until the fingerprint is the same.
 */

#define FINGERPRINT_CHARS     16
#define FINGERPRINT_KEY_BYTES 32

/* Write the fingerprint of a call of the tool called @name, with the arguments at @index of @tape,
 * to @ret. @key: FINGERPRINT_KEY_BYTES, or NULL for none. Return 0 or -ENOMEM. */
int fingerprint_write(const char *name, const struct json_tape *tape, uint32_t index,
	const unsigned char *key, char ret[FINGERPRINT_CHARS + 1]);
