/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A 64-bit digest in the manner of FNV-1a, by eight bytes at a time. It detects changed files
 * (libraries have megabytes) and hashes names of our own choice. It does not resist an attacker
 * with a choice of the input.
 */
#define DIGEST_SEED  UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

/* FNV's multiplication only carries upwards. The rotation brings the high bits to the low ones. */
static inline uint64_t digest_word(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * DIGEST_PRIME;
	return digest << 29 | digest >> 35;
}

/* Return the digest of the bytes of @digest followed by @size more at @bytes. The result depends on
 * where the bytes are cut, unless every cut is at a multiple of eight. */
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

/* Return the same for @text with its NUL; nothing is added for NULL. */
static inline uint64_t digest_text(uint64_t digest, const char *text)
{
	return text ? digest_bytes(digest, text, strlen(text) + 1) : digest;
}
