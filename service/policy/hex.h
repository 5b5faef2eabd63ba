/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/random.h>

#include "util/text/text.h"

/* Bytes as lower-case hexadecimal digits. */

/* Fill in @size random bytes. Return 0, or -1 without randomness from the kernel. */
static inline int hex_random(unsigned char *bytes, size_t size)
{
	return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -1;
}

/* The digits of a random id of 128 bits. */
#define HEX_ID_BYTES 16
#define HEX_ID_CHARS 32

/* Write a random id to @ret. Return 0, or -1 when the kernel has no random bytes. */
static inline int hex_write_id(char ret[HEX_ID_CHARS + 1])
{
	unsigned char bytes[HEX_ID_BYTES];

	if (hex_random(bytes, sizeof(bytes)) < 0)
		return -1;
	text_write_hex(bytes, sizeof(bytes), ret);
	return 0;
}
