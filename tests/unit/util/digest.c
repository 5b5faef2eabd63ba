/* SPDX-License-Identifier: Apache-2.0 */
#include "util/digest.h"

#include <criterion/criterion.h>
#include <string.h>

static uint64_t digest(const char *text)
{
	return digest_bytes(DIGEST_SEED, text, strlen(text));
}

Test(digest, is_another_one_when_any_bit_is_changed)
{
	unsigned char bytes[29] = {0};
	uint64_t before = digest_bytes(DIGEST_SEED, bytes, sizeof(bytes));

	for (size_t i = 0; i < sizeof(bytes) * 8; i++) {
		bytes[i / 8] ^= (unsigned char)(1u << i % 8);
		cr_expect_neq(
			digest_bytes(DIGEST_SEED, bytes, sizeof(bytes)), before, "bit %zu", i);
		bytes[i / 8] = 0;
	}
}

Test(digest, is_another_one_for_another_order)
{
	cr_expect_neq(digest("abcdefghABCDEFGH"), digest("ABCDEFGHabcdefgh"));
	cr_expect_neq(digest("ab"), digest("ba"));
	cr_expect_eq(digest(""), DIGEST_SEED);
}

Test(digest, may_be_taken_in_pieces_of_eight_bytes)
{
	static const char text[] = "The result depends on where the bytes are cut.";
	uint64_t whole = digest(text);

	for (size_t cut = 0; cut < sizeof(text) - 1; cut += 8)
		cr_expect_eq(digest_bytes(digest_bytes(DIGEST_SEED, text, cut), text + cut,
				     sizeof(text) - 1 - cut),
			whole, "%zu", cut);
}

Test(digest, does_not_depend_on_where_the_bytes_lie)
{
	static const char text[] = "from an odd address, too";
	char moved[sizeof(text) + 8];
	uint64_t whole = digest(text);

	for (size_t i = 0; i < 8; i++) {
		memcpy(moved + i, text, sizeof(text));
		cr_expect_eq(digest(moved + i), whole);
	}
}
