/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A digest of 64 bits in the manner of FNV-1a, eight bytes at a time: for telling that bytes have
 * changed (libraries have megabytes), and for hash tables of names that we chose ourselves. Not for
 * what an enemy may choose.
 */
#define DIGEST_SEED  UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

/* FNV's multiplication only carries upwards; turned round, high bits reach the low ones, too. */
static inline uint64_t digest_word(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * DIGEST_PRIME;
	return digest << 29 | digest >> 35;
}

/* The digest of what @digest stands for, followed by @size bytes. (Cut elsewhere than between words
 * of eight bytes, the same bytes give another one.) */
static inline uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), byte += sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		digest = digest_word(digest, word);
	}
	for (; size > 0; size--)
		digest = digest_word(digest, *byte++);
	return digest;
}
