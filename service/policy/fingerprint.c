/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/fingerprint.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "json/canonical.h"
#include "policy/hex.h"

int fingerprint_write(const char *name, const struct json_tape *tape, uint32_t index,
	const unsigned char *key, char ret[FINGERPRINT_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};
	unsigned char digest[SHA256_DIGEST_LENGTH];
	const unsigned char *bytes;
	bool is_made;

	buffer_append_string(&text, name);
	buffer_append_char(&text, ':');
	json_write_canonical(&text, tape, index);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	bytes = (const unsigned char *)text.data;
	if (key)
		is_made = HMAC(
			EVP_sha256(), key, FINGERPRINT_KEY_BYTES, bytes, text.size, digest, NULL);
	else
		is_made = EVP_Digest(bytes, text.size, digest, NULL, EVP_sha256(), NULL);
	if (!is_made)
		return -EIO;
	text_write_hex(digest, FINGERPRINT_CHARS / 2, ret);
	return 0;
}
