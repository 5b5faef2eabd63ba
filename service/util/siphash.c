/* SPDX-License-Identifier: Apache-2.0 */
#include "util/siphash.h"

#include <endian.h>
#include <string.h>
#include <sys/auxv.h>

static uint64_t rotate(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static void siphash_round(struct siphash *hash)
{
	hash->v0 += hash->v1;
	hash->v1 = rotate(hash->v1, 13) ^ hash->v0;
	hash->v0 = rotate(hash->v0, 32);
	hash->v2 += hash->v3;
	hash->v3 = rotate(hash->v3, 16) ^ hash->v2;
	hash->v0 += hash->v3;
	hash->v3 = rotate(hash->v3, 21) ^ hash->v0;
	hash->v2 += hash->v1;
	hash->v1 = rotate(hash->v1, 17) ^ hash->v2;
	hash->v2 = rotate(hash->v2, 32);
}

static void siphash_word(struct siphash *hash, uint64_t word)
{
	hash->v3 ^= word;
	siphash_round(hash);
	hash->v0 ^= word;
}

static struct siphash_key process_key;

/* Every response takes the key, and getauxval() searches for it. */
__attribute__((constructor)) static void read_process_key(void)
{
	memcpy(&process_key, (const void *)getauxval(AT_RANDOM), sizeof(process_key));
}

struct siphash_key siphash_process_key(void)
{
	return process_key;
}

void siphash_init(struct siphash *hash, const struct siphash_key *key)
{
	*hash = (struct siphash){
		.v0 = key->words[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = key->words[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key->words[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = key->words[1] ^ UINT64_C(0x7465646279746573),
	};
}

void siphash_bytes(struct siphash *hash, const char *bytes, size_t size)
{
	struct siphash now = *hash; /* in registers: @bytes may not be a part of it */
	size_t at = 0;

	now.total += size;
	for (; size - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + at, sizeof(word));
		word = le64toh(word);
		siphash_word(&now, now.word | word << now.bits);
		now.word = now.bits > 0 ? word >> (64 - now.bits) : 0;
	}
	for (; at < size; at++) {
		now.word |= (uint64_t)(unsigned char)bytes[at] << now.bits;
		now.bits += 8;
		if (now.bits == 64) {
			siphash_word(&now, now.word);
			now.word = 0;
			now.bits = 0;
		}
	}
	*hash = now;
}

uint64_t siphash_finish(struct siphash *hash)
{
	siphash_word(hash, hash->total << 56 | hash->word);
	hash->v2 ^= 0xFF;
	siphash_round(hash);
	siphash_round(hash);
	siphash_round(hash);
	return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}
