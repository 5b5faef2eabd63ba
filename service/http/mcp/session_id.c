/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/session_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/sha256.h"
#include "util/text/text.h"

/* The digits before the proof. */
#define NONCE_BYTES 8
#define OPEN_CHARS  (16 + 2 * NONCE_BYTES)

#define HALF_BYTES (SHA256_DIGEST_LENGTH / 2)

_Static_assert(MCP_SESSION_ID_CHARS == OPEN_CHARS + 2 * HALF_BYTES, "an id has these parts");
_Static_assert(HEX_ID_BYTES == HALF_BYTES, "a name is the other half");

/* Return the first 8 bytes at @bytes as a number. */
static uint64_t take_number(const unsigned char *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* Return the keyed hash of the holder of @identity. */
static uint64_t hash_holder(
	const unsigned char key[MCP_SESSION_KEY_BYTES], const struct http_identity *identity)
{
	char text[sizeof("holder\n") + sizeof(identity->source) + NETWORK_BYTES];
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int size = snprintf(text, sizeof(text), "holder\n%s", identity->holder);

	sha256_authenticate(key, MCP_SESSION_KEY_BYTES, text, (size_t)size, digest);
	return take_number(digest);
}

/* Complete @id, whose text has the open digits, for @identity. */
static void complete(const unsigned char key[MCP_SESSION_KEY_BYTES],
	const struct http_identity *identity, struct mcp_session_id *id)
{
	char token[2 * HTTP_TOKEN_DIGEST_BYTES + 1] = "";
	char text[sizeof("session\n") + sizeof(identity->source) + sizeof(token) + OPEN_CHARS];
	unsigned char digest[SHA256_DIGEST_LENGTH];
	int size;

	if (identity->token)
		text_write_hex(identity->token->digest, HTTP_TOKEN_DIGEST_BYTES, token);
	size = snprintf(text, sizeof(text), "session\n%s\n%s\n%.*s", identity->source, token,
		OPEN_CHARS, id->text);
	sha256_authenticate(key, MCP_SESSION_KEY_BYTES, text, (size_t)size, digest);
	text_write_hex(digest, HALF_BYTES, id->text + OPEN_CHARS);
	text_write_hex(digest + HALF_BYTES, HALF_BYTES, id->name);
	/* A tag of 0 would be a cut. */
	id->entry.tag = take_number(digest) | 1;
	id->entry.holder = hash_holder(key, identity);
}

int mcp_session_id_make(const unsigned char key[MCP_SESSION_KEY_BYTES],
	const struct http_identity *identity, uint64_t now_s, struct mcp_session_id *ret_id)
{
	unsigned char nonce[NONCE_BYTES];

	*ret_id = (struct mcp_session_id){.entry.start_s = now_s};
	if (hex_random(nonce, sizeof(nonce)) < 0)
		return -EIO;
	snprintf(ret_id->text, sizeof(ret_id->text), "%016" PRIx64, now_s);
	text_write_hex(nonce, sizeof(nonce), ret_id->text + 16);
	complete(key, identity, ret_id);
	return 0;
}

bool mcp_session_id_read(const unsigned char key[MCP_SESSION_KEY_BYTES],
	const struct http_identity *identity, const char *text, struct mcp_session_id *ret_id)
{
	unsigned char open[OPEN_CHARS / 2];

	*ret_id = (struct mcp_session_id){0};
	if (strlen(text) != MCP_SESSION_ID_CHARS ||
		!text_read_hex(text, OPEN_CHARS, open, sizeof(open)))
		return false;
	for (size_t i = 0; i < sizeof(uint64_t); i++)
		ret_id->entry.start_s = ret_id->entry.start_s << 8 | open[i];
	memcpy(ret_id->text, text, OPEN_CHARS);
	complete(key, identity, ret_id);
	return sha256_is_same(ret_id->text, text, MCP_SESSION_ID_CHARS);
}
