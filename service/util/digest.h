/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits: for telling that bytes have changed, and for hash tables of names that we chose
 * ourselves. Not for what an enemy may choose. */
#define DIGEST_SEED UINT64_C(0xcbf29ce484222325)

/* The digest of what @digest stands for, followed by @size bytes. */
static inline uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
	return digest;
}
