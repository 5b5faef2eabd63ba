/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/proof.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct text_view once = {"once", 4};

/* The bytes 0 to 31. Python: hmac.new(bytes(range(32)), b"ab\nonce", "sha256").hexdigest() */
static void make_key(unsigned char key[APPROVAL_KEY_BYTES])
{
	for (size_t i = 0; i < APPROVAL_KEY_BYTES; i++)
		key[i] = (unsigned char)i;
}

Test(proof, is_the_hmac_of_the_id_and_the_decision)
{
	unsigned char key[APPROVAL_KEY_BYTES];
	char proof[PROOF_CHARS + 1];

	make_key(key);
	cr_assert(proof_of_answer(key, "ab", &once, proof));
	cr_expect_str_eq(proof, "f88f575f21a51b00b2be0a00964b2b8ae258dd8e976b4da3966346a8dc73adc6");
	cr_assert(proof_of_attach(key, 60, "ff", proof));
	cr_expect_str_eq(proof, "47021e2c485066bacc0b9e181cd7621cb7fdd5c52f6a331e6edc4e766b21a63c");
}

Test(proof, is_recognised_as_a_whole_only)
{
	unsigned char key[APPROVAL_KEY_BYTES];
	char proof[PROOF_CHARS + 1];
	char other[PROOF_CHARS + 1];

	make_key(key);
	cr_assert(proof_of_answer(key, "ab", &once, proof));
	cr_expect(proof_is(proof, proof, PROOF_CHARS));
	cr_expect_not(proof_is(proof, proof, PROOF_CHARS - 1));
	cr_expect_not(proof_is(proof, "", 0));
	for (size_t i = 0; i < PROOF_CHARS; i++) {
		memcpy(other, proof, sizeof(other));
		other[i] = other[i] == 'f' ? 'F' : 'f';
		cr_expect_not(proof_is(proof, other, PROOF_CHARS), "%zu", i);
	}
}
