/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "policy/hex.h"
#include "util/buffer.h"
#include "util/cleanup.h"

static bool prove(const unsigned char key[APPROVAL_KEY_BYTES], const struct buffer *text,
	char ret[PROOF_CHARS + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	if (buffer_status(text) < 0 ||
		!HMAC(EVP_sha256(), key, APPROVAL_KEY_BYTES, (const unsigned char *)text->data,
			text->size, digest, NULL))
		return false;
	text_write_hex(digest, sizeof(digest), ret);
	return true;
}

bool proof_of_answer(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const struct text_view *decision, char ret[PROOF_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "%s\n", id);
	buffer_append(&text, decision->text, decision->size);
	return prove(key, &text, ret);
}

bool proof_of_attach(const unsigned char key[APPROVAL_KEY_BYTES], uint64_t seconds,
	const char *nonce, char ret[PROOF_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "attach\n%llu\n%s", (unsigned long long)seconds, nonce);
	return prove(key, &text, ret);
}

bool proof_is(const char proof[PROOF_CHARS + 1], const char *text, size_t size)
{
	return size == PROOF_CHARS && CRYPTO_memcmp(proof, text, PROOF_CHARS) == 0;
}
