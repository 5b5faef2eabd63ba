/* SPDX-License-Identifier: Apache-2.0 */
#include "config/http_tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "config/token.h"
#include "json/member.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/sha256.h"
#include "util/stringify.h"
#include "util/text/text.h"

_Static_assert(HTTP_TOKEN_DIGEST_BYTES == SHA256_DIGEST_LENGTH, "the size of a SHA-256");

#define FIELDS_OF struct http_token
static const struct config_field token_fields[] = {
	CONFIG_TEXT("name", name),
	CONFIG_TEXT("token_file", file),
	CONFIG_TEXT("profile", profile),
	CONFIG_FLAG("admin", is_admin, false),
	CONFIG_TEXT("since", since),
};
#undef FIELDS_OF

bool http_tokens_is_name(const char *name)
{
	size_t size = strlen(name);

	return size > 0 && size <= HTTP_TOKEN_NAME_CHARS && text_span_name(name) == size;
}

void http_token_digest(
	const char *token, size_t size, unsigned char ret_digest[HTTP_TOKEN_DIGEST_BYTES])
{
	sha256(token, size, ret_digest);
}

static void token_deinit(struct http_token *token)
{
	config_fields_deinit(token_fields, ARRAY_SIZE(token_fields), token);
	explicit_bzero(token, sizeof(*token));
}

/* Read the digest of @token from its file. Return 0 or CONFIG_FILE_E_WRONG. */
static int read_token_file(
	uint32_t entry, struct http_token *token, struct config_mistake *ret_mistake)
{
	char secret[BUS_TOKEN_BYTES];
	int r = config_token_read(token->file, secret);

	if (r < 0)
		return config_mistake_set(ret_mistake, entry, config_token_expected(r));
	http_token_digest(secret, strlen(secret), token->digest);
	explicit_bzero(secret, sizeof(secret));
	return 0;
}

/* Take the digest of the token of @entry: from its file, or from the text at @digest. */
static int take_digest(const struct json_tape *tape, uint32_t entry, uint32_t digest,
	struct http_token *token, struct config_mistake *ret_mistake)
{
	cleanup_free char *text = NULL;

	if (token->file)
		return read_token_file(json_find(tape, entry, "token_file"), token, ret_mistake);
	text = json_string_dup(tape, digest, NULL);
	if (!text)
		return -ENOMEM;
	(void)text_read_hex(text, strlen(text), token->digest, sizeof(token->digest));
	return 0;
}

/* Refuse @token if @tokens have its name, its digest, or no room. */
static int check_others(const struct http_tokens *tokens, const struct http_token *token,
	uint32_t entry, struct config_mistake *ret_mistake)
{
	if (http_tokens_find(tokens, token->name))
		return config_mistake_set(
			ret_mistake, entry, "has the \"name\" of an earlier token");
	for (size_t i = 0; i < tokens->n_items; i++)
		if (memcmp(tokens->items[i].digest, token->digest, sizeof(token->digest)) == 0)
			return config_mistake_set(
				ret_mistake, entry, "is the same token as an earlier one");
	if (tokens->n_items == HTTP_TOKENS_MAX)
		return config_mistake_set(ret_mistake, entry,
			"is one token more than the " STRINGIFY(
				HTTP_TOKENS_MAX) " that are allowed");
	return 0;
}

static int read_token_entry(const struct json_tape *tape, uint32_t entry,
	struct http_tokens *tokens, struct config_mistake *ret_mistake)
{
	cleanup(token_deinit) struct http_token token = {0};
	uint32_t digest = json_find_typed(tape, entry, "token_sha256", JSON_STRING);
	int r = config_fields_read(tape, entry, token_fields, ARRAY_SIZE(token_fields), &token);

	/* Reported mistakes do not count. */
	if (r != 0 || !token.name || (!token.file && digest == JSON_NONE))
		return r;
	r = take_digest(tape, entry, digest, &token, ret_mistake);
	if (r == 0)
		r = check_others(tokens, &token, entry, ret_mistake);
	if (r == 0)
		r = array_grow(tokens->items, tokens->n_items);
	if (r != 0)
		return r;
	tokens->items[tokens->n_items++] = token;
	token = (struct http_token){0};
	return 0;
}

int http_tokens_read(const struct json_tape *tape, uint32_t list, struct http_tokens *tokens,
	struct config_mistake *ret_mistake)
{
	int r = 0;

	json_each_while(r == 0, entry, tape, list)
		r = read_token_entry(tape, entry, tokens, ret_mistake);
	return r;
}

int http_tokens_read_file(const struct json_tape *tape, struct http_tokens *tokens,
	struct config_mistake *ret_mistake)
{
	int r = config_file_check(tape, "tokens.json", ret_mistake);

	return r == 0 ? http_tokens_read(tape, 0, tokens, ret_mistake) : r;
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
