/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): for hash tables of
 * what peers send. Under a key that nobody outside knows, nobody outside can choose texts that
 * collide.
 *
 *   siphash_process_key ─▶ siphash_init ─▶ siphash_bytes… ─▶ siphash_finish
 *
 * Only the bytes count, not how they were split over the calls.
 */

/* 128 bits. */
struct siphash_key {
	uint64_t words[2];
};

struct siphash {
	uint64_t v0, v1, v2, v3;
	uint64_t word;     /* bytes that wait for a whole word */
	unsigned int bits; /* how many bits of it */
	uint64_t total;    /* bytes hashed */
};

/* The key of this process: the random bytes that the kernel handed it (getauxval(3), AT_RANDOM). */
struct siphash_key siphash_process_key(void);

void siphash_init(struct siphash *hash, const struct siphash_key *key);

void siphash_bytes(struct siphash *hash, const char *bytes, size_t size);

/* The hash of everything so far. */
uint64_t siphash_finish(struct siphash *hash);
