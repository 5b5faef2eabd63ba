/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "util/siphash.h"

/* The bytes 0 to 15, which the paper's appendix takes as its key. */
static const struct siphash_key counting = {
	{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

static uint64_t hash(const struct siphash_key *key, const char *bytes, size_t size, size_t split)
{
	struct siphash hash;

	siphash_init(&hash, key);
	siphash_bytes(&hash, bytes, split);
	siphash_bytes(&hash, bytes + split, size - split);
	return siphash_finish(&hash);
}

/* Some of the vectors in the tests of Rust's standard library: the bytes from 0 on. */
Test(siphash, is_siphash_1_3)
{
	static const struct {
		size_t size;
		uint64_t hash;
	} vectors[] = {
		{0, UINT64_C(0xabac0158050fc4dc)},
		{1, UINT64_C(0xc9f49bf37d57ca93)},
		{7, UINT64_C(0xd3927d989bb11140)},
		{8, UINT64_C(0x369095118d299a8e)},
		{15, UINT64_C(0xd320d86d2a519956)},
		{16, UINT64_C(0xcc4fdd1a7d908b66)},
		{63, UINT64_C(0x9d199062b7bbb3a8)},
	};
	char bytes[63];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
		cr_expect_eq(hash(&counting, bytes, vectors[i].size, 0), vectors[i].hash, "%zu",
			vectors[i].size);
}

Test(siphash, does_not_depend_on_how_the_bytes_were_split)
{
	static const char text[] = "what is hashed in pieces is hashed as a whole";
	uint64_t whole = hash(&counting, text, sizeof(text), 0);

	for (size_t split = 1; split <= sizeof(text); split++)
		cr_expect_eq(hash(&counting, text, sizeof(text), split), whole, "%zu", split);
}

Test(siphash, has_one_key_for_the_process_that_is_not_guessed)
{
	struct siphash_key key = siphash_process_key();
	struct siphash_key again = siphash_process_key();

	cr_expect_eq(memcmp(&key, &again, sizeof(key)), 0);
	cr_expect_neq(hash(&key, "a", 1, 0), hash(&counting, "a", 1, 0));
}
