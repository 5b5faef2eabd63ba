/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/proof.h"

#include <errno.h>

#include "json/canonical.h"
#include "json/document.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "policy/hex.h"
#include "util/buffer.h"
#include "util/sha256.h"

static bool prove(const unsigned char key[APPROVAL_KEY_BYTES], const struct buffer *text,
	char ret[PROOF_CHARS + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	if (buffer_status(text) < 0)
		return false;
	sha256_authenticate(key, APPROVAL_KEY_BYTES, text->data, text->size, digest);
	text_write_hex(digest, sizeof(digest), ret);
	return true;
}

/* Append the object without the unsealed members. */
static void write_sealed(struct buffer *out, const struct json_tape *tape, uint32_t object)
{
	buffer_append_char(out, '{');
	json_each_key(key, tape, object) {
		if (json_is_text(tape, key, "seal") || json_is_text(tape, key, "expires_s"))
			continue;
		json_write_member_copy(out, tape, key);
	}
	buffer_append_char(out, '}');
}

int proof_digest(const struct json_tape *tape, uint32_t object, char ret[PROOF_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer sealed = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape copy = {0};
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int r;

	write_sealed(&sealed, tape, object);
	r = buffer_status(&sealed);
	if (r == 0)
		r = json_tape_read(&copy, sealed.data, sealed.size, JSON_DOCUMENT_DEPTH_MAX, NULL);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	json_write_canonical(&text, &copy, 0);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	sha256(text.data, text.size, digest);
	text_write_hex(digest, sizeof(digest), ret);
	return 0;
}

static bool write_seal(const unsigned char key[APPROVAL_KEY_BYTES], const char *domain,
	const char *id, const char *digest, char ret[PROOF_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "%s\n%s\n%s", domain, id, digest);
	return prove(key, &text, ret);
}

bool proof_of_question(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const char *digest, char ret[PROOF_CHARS + 1])
{
	return write_seal(key, "question", id, digest, ret);
}

bool proof_of_end(const unsigned char key[APPROVAL_KEY_BYTES], const char *id, const char *digest,
	char ret[PROOF_CHARS + 1])
{
	return write_seal(key, "resolved", id, digest, ret);
}

bool proof_of_answer(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const struct text_view *decision, const char *seal, char ret[PROOF_CHARS + 1])
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "answer\n%s\n", id);
	buffer_append(&text, decision->text, decision->size);
	buffer_printf(&text, "\n%s", seal);
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
	return size == PROOF_CHARS && sha256_is_same(proof, text, PROOF_CHARS);
}
