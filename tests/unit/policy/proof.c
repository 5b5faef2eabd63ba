/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/proof.h"

#include <criterion/criterion.h>
#include <string.h>

#include "json/reader.h"

static const struct text_view once = {"once", 4};

/* The bytes 0 to 31. Python: hmac.new(bytes(range(32)), b"answer\nab\nonce\nff",
 * "sha256").hexdigest() */
static void make_key(unsigned char key[APPROVAL_KEY_BYTES])
{
	for (size_t i = 0; i < APPROVAL_KEY_BYTES; i++)
		key[i] = (unsigned char)i;
}

Test(proof, is_the_hmac_of_a_domain_and_of_what_is_proved)
{
	unsigned char key[APPROVAL_KEY_BYTES];
	char proof[PROOF_CHARS + 1];

	make_key(key);
	cr_assert(proof_of_answer(key, "ab", &once, "ff", proof));
	cr_expect_str_eq(proof, "7571821c7e3ecb9235a6e9efbdc17817c12233a981219b652202931e290bf87f");
	cr_assert(proof_of_question(key, "ab", "ff", proof));
	cr_expect_str_eq(proof, "191699f116218a86e2cda6e0621f686d673d1ff0a72edd3d2506a4d4c918a304");
	cr_assert(proof_of_end(key, "ab", "ff", proof));
	cr_expect_str_eq(proof, "ebe87e8302be7df522ecf1871657ab3dc02fddb463382ca38e1c60a329280a8e");
	cr_assert(proof_of_attach(key, 60, "ff", proof));
	cr_expect_str_eq(proof, "47021e2c485066bacc0b9e181cd7621cb7fdd5c52f6a331e6edc4e766b21a63c");
}

static void expect_digest(const char *message, const char *wanted)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	char digest[PROOF_CHARS + 1];

	cr_assert_eq(json_tape_read(&tape, message, strlen(message), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(proof_digest(&tape, 0, digest), 0);
	cr_expect_str_eq(digest, wanted, "%s", message);
}

/* Python: hashlib.sha256('{"a":{"b":1.0,"c":"é"},"id":"x"}'.encode()).hexdigest() */
Test(proof, covers_a_message_however_it_is_written_but_for_its_seal_and_the_time_left)
{
	static const char digest[] =
		"0a825865e5af99902cc7740656b83153dc7260622dd509d016525e23949e2515";
	char other[PROOF_CHARS + 1];
	static const char changed[] = "{\"id\": \"x\", \"a\": {\"b\": 1.0, \"c\": \"e\"}}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	expect_digest("{\"id\":\"x\",\"a\":{\"c\":\"\\u00e9\",\"b\":1.0}}", digest);
	expect_digest("{\"seal\": 1, \"id\": \"\\u0078\", \"expires_s\": 2, "
		      "\"a\": {\"b\": 1.0, \"c\": \"\xC3\xA9\"}}",
		digest);
	cr_assert_eq(json_tape_read(&tape, changed, strlen(changed), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(proof_digest(&tape, 0, other), 0);
	cr_expect_str_neq(other, digest);
}

Test(proof, is_recognised_as_a_whole_only)
{
	unsigned char key[APPROVAL_KEY_BYTES];
	char proof[PROOF_CHARS + 1];
	char other[PROOF_CHARS + 1];

	make_key(key);
	cr_assert(proof_of_answer(key, "ab", &once, "ff", proof));
	cr_expect(proof_is(proof, proof, PROOF_CHARS));
	cr_expect_not(proof_is(proof, proof, PROOF_CHARS - 1));
	cr_expect_not(proof_is(proof, "", 0));
	for (size_t i = 0; i < PROOF_CHARS; i++) {
		memcpy(other, proof, sizeof(other));
		other[i] = other[i] == 'f' ? 'F' : 'f';
		cr_expect_not(proof_is(proof, other, PROOF_CHARS), "%zu", i);
	}
}
