/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http_tokens.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "config/token.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

_Static_assert(HTTP_TOKEN_DIGEST_BYTES == SHA256_DIGEST_LENGTH, "the size of a SHA-256");

/* A list while it is read. */
struct tokens_reader {
	const struct json_tape *tape;
	bool is_file;
	struct http_tokens_mistake *mistake;
};

static int refuse_token(struct tokens_reader *reader, uint32_t token, const char *text)
{
	*reader->mistake = (struct http_tokens_mistake){token, text};
	return HTTP_TOKENS_E_WRONG;
}

bool http_tokens_is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_-";
	size_t size = strlen(name);

	return size > 0 && size <= HTTP_TOKEN_NAME_CHARS && strspn(name, letters) == size;
}

int http_token_digest(
	const char *token, size_t size, unsigned char ret_digest[HTTP_TOKEN_DIGEST_BYTES])
{
	return EVP_Digest(token, size, ret_digest, NULL, EVP_sha256(), NULL) ? 0 : -EIO;
}

static void token_deinit(struct http_token *token)
{
	free(token->name);
	free(token->profile);
	free(token->since);
	free(token->file);
	explicit_bzero(token, sizeof(*token));
}

/* Read the string at @value, which is not empty. */
static int read_member_text(struct tokens_reader *reader, uint32_t value, char **ret_text)
{
	size_t size;

	if (json_type_at(reader->tape, value) != JSON_STRING)
		return refuse_token(reader, value, "must be a string");
	*ret_text = json_string_dup(reader->tape, value, &size);
	if (!*ret_text)
		return -ENOMEM;
	if (size > 0 && strlen(*ret_text) == size)
		return 0;
	return refuse_token(reader, value, "must be a text that is not empty, without U+0000");
}

static int read_token_name(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	int r = read_member_text(reader, value, &token->name);

	if (r == 0 && !http_tokens_is_name(token->name))
		return refuse_token(
			reader, value, "must have 1 to 64 letters, digits, '_' and '-' only");
	return r;
}

static int read_profile(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	return read_member_text(reader, value, &token->profile);
}

static int read_token_since(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	return read_member_text(reader, value, &token->since);
}

static int read_digest(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	cleanup_free char *text = NULL;
	int r = read_member_text(reader, value, &text);

	if (r != 0 || text_read_hex(text, strlen(text), token->digest, sizeof(token->digest)))
		return r;
	return refuse_token(reader, value,
		"must be the SHA-256 of the token, as 64 hexadecimal digits (printf %s TOKEN | "
		"sha256sum)");
}

static int read_file(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	char secret[BUS_TOKEN_BYTES];
	int r = read_member_text(reader, value, &token->file);

	if (r != 0)
		return r;
	r = config_token_read(token->file, secret);
	if (r < 0)
		return refuse_token(reader, value, config_token_expected(r));
	r = http_token_digest(secret, strlen(secret), token->digest);
	explicit_bzero(secret, sizeof(secret));
	return r;
}

static int read_admin(struct tokens_reader *reader, uint32_t value, struct http_token *token)
{
	enum json_type type = json_type_at(reader->tape, value);

	token->is_admin = type == JSON_TRUE;
	if (type != JSON_TRUE && type != JSON_FALSE)
		return refuse_token(reader, value, "must be true or false");
	return 0;
}

enum member { NAME, DIGEST, TOKEN_FILE, PROFILE, ADMIN, SINCE, N_MEMBERS };

static const struct {
	const char *key;
	int (*read)(struct tokens_reader *reader, uint32_t value, struct http_token *token);
} member_readers[] = {
	[NAME] = {"name", read_token_name},
	[DIGEST] = {"token_sha256", read_digest},
	[TOKEN_FILE] = {"token_file", read_file},
	[PROFILE] = {"profile", read_profile},
	[ADMIN] = {"admin", read_admin},
	[SINCE] = {"since", read_token_since},
};

/* Return the member of the key at @key; N_MEMBERS when there is none of that name in such a
 * list. */
static enum member find_token_member(const struct tokens_reader *reader, uint32_t key)
{
	enum member absent = reader->is_file ? TOKEN_FILE : SINCE;

	for (enum member i = NAME; i < N_MEMBERS; i++)
		if (i != absent && json_string_equals(reader->tape, key, member_readers[i].key,
					   strlen(member_readers[i].key)))
			return i;
	return N_MEMBERS;
}

/* Read the members of the object at @entry. A null token counts as absent. */
static int read_token_members(struct tokens_reader *reader, uint32_t entry,
	struct http_token *token, bool ret_has[N_MEMBERS])
{
	const struct json_tape *tape = reader->tape;
	int r = 0;

	for (uint32_t key = json_first(tape, entry); r == 0 && key < json_end(tape, entry);
		key = json_next_key(tape, key)) {
		enum member member = find_token_member(reader, key);

		if (member == N_MEMBERS)
			return refuse_token(reader, key,
				reader->is_file ? "is an unknown key; expected \"name\", "
						  "\"token_sha256\", \"profile\", \"admin\" or "
						  "\"since\""
						: "is an unknown key; expected \"name\", "
						  "\"token_sha256\" or \"token_file\", "
						  "\"profile\", \"admin\"");
		if (json_type_at(tape, key + 1) == JSON_NULL)
			continue;
		ret_has[member] = true;
		r = member_readers[member].read(reader, key + 1, token);
	}
	return r;
}

/* Refuse the entry at @entry when an earlier entry has the same name or secret: the rights of a
 * token must not depend on the order. */
static int check_others(struct tokens_reader *reader, uint32_t entry,
	const struct http_tokens *tokens, const struct http_token *token)
{
	if (http_tokens_find(tokens, token->name))
		return refuse_token(reader, entry, "has the \"name\" of an earlier token");
	for (size_t i = 0; i < tokens->n_items; i++)
		if (memcmp(tokens->items[i].digest, token->digest, sizeof(token->digest)) == 0)
			return refuse_token(reader, entry, "is the same token as an earlier one");
	if (tokens->n_items == HTTP_TOKENS_MAX)
		return refuse_token(
			reader, entry, "is one token more than the 1000 that are allowed");
	return 0;
}

static int read_token_entry(
	struct tokens_reader *reader, uint32_t entry, struct http_tokens *tokens)
{
	cleanup(token_deinit) struct http_token token = {0};
	bool has[N_MEMBERS] = {false};
	int r;

	if (json_type_at(reader->tape, entry) != JSON_OBJECT)
		return refuse_token(
			reader, entry, "must be an object with \"name\" and \"token_sha256\"");
	r = read_token_members(reader, entry, &token, has);
	if (r != 0)
		return r;
	if (!has[NAME] || has[DIGEST] == has[TOKEN_FILE])
		return refuse_token(reader, entry,
			reader->is_file ? "must have \"name\" and \"token_sha256\""
					: "must have \"name\", and either \"token_sha256\" or "
					  "\"token_file\"");
	r = check_others(reader, entry, tokens, &token);
	if (r != 0)
		return r;
	r = array_grow(tokens->items, tokens->n_items);
	if (r < 0)
		return r;
	tokens->items[tokens->n_items++] = token;
	token = (struct http_token){0};
	return 0;
}

int http_tokens_read(const struct json_tape *tape, uint32_t list, bool is_file,
	struct http_tokens *tokens, struct http_tokens_mistake *ret_mistake)
{
	struct tokens_reader reader = {tape, is_file, ret_mistake};
	int r = 0;

	if (json_type_at(tape, list) != JSON_ARRAY)
		return refuse_token(&reader, list, "must be a list of tokens");
	for (uint32_t entry = json_first(tape, list); r == 0 && entry < json_end(tape, list);
		entry = json_next(tape, entry))
		r = read_token_entry(&reader, entry, tokens);
	return r;
}

const struct http_token *http_tokens_find(const struct http_tokens *tokens, const char *name)
{
	for (size_t i = 0; i < tokens->n_items; i++)
		if (strcmp(tokens->items[i].name, name) == 0)
			return &tokens->items[i];
	return NULL;
}

void http_tokens_deinit(struct http_tokens *tokens)
{
	for (size_t i = 0; i < tokens->n_items; i++)
		token_deinit(&tokens->items[i]);
	free(tokens->items);
	*tokens = (struct http_tokens){0};
}
