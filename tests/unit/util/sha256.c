/* SPDX-License-Identifier: Apache-2.0 */
#include "util/sha256.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/text/text.h"

static void expect_digest(const unsigned char *digest, const char *expected)
{
	char text[2 * SHA256_DIGEST_LENGTH + 1];

	text_write_hex(digest, SHA256_DIGEST_LENGTH, text);
	cr_expect_str_eq(text, expected);
}

/* FIPS 180-2, appendix B, and the digest of nothing. */
Test(sha256, has_the_published_digests)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static char million[1000000];
	unsigned char digest[SHA256_DIGEST_LENGTH];

	sha256("", 0, digest);
	expect_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256("abc", 3, digest);
	expect_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256(two_blocks, strlen(two_blocks), digest);
	expect_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	sha256(million, sizeof(million), digest);
	expect_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void expect_hmac(const char *key, size_t key_size, const char *text, const char *expected)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	sha256_authenticate(key, key_size, text, strlen(text), digest);
	expect_digest(digest, expected);
}

/* RFC 4231, test cases 1, 2, 3, 4, 6 and 7. */
Test(sha256, has_the_published_codes)
{
	char key[131];
	char text[51] = "";

	memset(key, 0x0b, 20);
	expect_hmac(key, 20, "Hi There",
		"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	expect_hmac("Jefe", 4, "what do ya want for nothing?",
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(text, 0xdd, 50);
	expect_hmac(
		key, 20, text, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	for (size_t i = 0; i < 25; i++)
		key[i] = (char)(i + 1);
	memset(text, 0xcd, 50);
	expect_hmac(
		key, 25, text, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
	memset(key, 0xaa, sizeof(key));
	expect_hmac(key, sizeof(key), "Test Using Larger Than Block-Size Key - Hash Key First",
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	expect_hmac(key, sizeof(key),
		"This is a test using a larger than block-size key and a larger than block-size "
		"data. The key needs to be hashed before being used by the HMAC algorithm.",
		"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

Test(sha256, tells_bytes_apart)
{
	cr_expect(sha256_is_same("", "", 0));
	cr_expect(sha256_is_same("abcd", "abcd", 4));
	cr_expect(sha256_is_same("abcd", "abce", 3));
	for (size_t i = 0; i < 8 * sizeof("abcd"); i++) {
		char other[] = "abcd";

		other[i / 8] = (char)(other[i / 8] ^ 1 << i % 8);
		cr_expect_not(sha256_is_same("abcd", other, sizeof(other)), "%zu", i);
	}
}
