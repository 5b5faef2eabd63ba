/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/random.h>

/* Bytes as lower-case hexadecimal digits. */

/* Write the 2 * @size digits of @bytes, and a NUL, to @ret. */
static inline void hex_write(const unsigned char *bytes, size_t size, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 0xF];
	}
	ret[2 * size] = '\0';
}

/* Fill in @size random bytes. Return 0, or -1 when the kernel has none. */
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
	hex_write(bytes, sizeof(bytes), ret);
	return 0;
}
