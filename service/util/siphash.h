/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012), for hash tables of
 * text from peers. Without the key, which never leaves the process, a peer cannot choose colliding
 * texts.
 *
 *   siphash_process_key ─▶ siphash_init ─▶ siphash_bytes… ─▶ siphash_finish
 *
 * The hash does not depend on how the bytes are split over the calls.
 */

/* 128 bits */
struct siphash_key {
	uint64_t words[2];
};

struct siphash {
	uint64_t v0, v1, v2, v3;
	uint64_t word;     /* bytes short of a whole word */
	unsigned int bits; /* how many bits of it are used */
	uint64_t total;    /* bytes hashed */
};

/* Return the key of this process: random bytes of the kernel (getauxval(3), AT_RANDOM). */
struct siphash_key siphash_process_key(void);

void siphash_init(struct siphash *hash, const struct siphash_key *key);

void siphash_bytes(struct siphash *hash, const char *bytes, size_t size);

/* Return the hash of all bytes so far. */
uint64_t siphash_finish(struct siphash *hash);
