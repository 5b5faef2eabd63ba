/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/fingerprint.h"

#include "json/canonical.h"
#include "policy/hex.h"
#include "util/sha256.h"

int fingerprint_write(const char *name, const struct json_tape *tape, uint32_t index,
	const unsigned char *key, char ret[FINGERPRINT_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};
	unsigned char digest[SHA256_DIGEST_LENGTH];

	buffer_append_string(&text, name);
	buffer_append_char(&text, ':');
	json_write_canonical(&text, tape, index);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	if (key)
		sha256_authenticate(key, FINGERPRINT_KEY_BYTES, text.data, text.size, digest);
	else
		sha256(text.data, text.size, digest);
	text_write_hex(digest, FINGERPRINT_CHARS / 2, ret);
	return 0;
}
