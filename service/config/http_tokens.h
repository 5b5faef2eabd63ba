/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/layers/file_shape.h"
#include "json/reader.h"

/*
 * The tokens of clients of HTTP, as listed by `http.tokens` and the files tokens.json:
 *
 *   [{"name": "kitchen", "token_sha256": "9f86…", "profile": "kids", "admin": false,
 *     "since": "…"}, …]
 *
 * Only the SHA-256 of a token is kept. In `http.tokens` the place of the digest may be taken by
 * `token_file`, a file with the token as its only line.
 */

#define HTTP_TOKEN_DIGEST_BYTES 32

/* The longest name. */
#define HTTP_TOKEN_NAME_CHARS 64

/* Tokens of all lists. */
#define HTTP_TOKENS_MAX 1000

struct http_token {
	char *name;
	unsigned char digest[HTTP_TOKEN_DIGEST_BYTES]; /* SHA-256 of the token */
	char *profile;                                 /* which narrows; NULL: none */
	char *since;                                   /* the time of its making; NULL: not known */
	char *file;                                    /* its `token_file`, or NULL */
	bool is_admin;
};

struct http_tokens {
	struct http_token *items;
	size_t n_items;
};

/* Return whether @name can be the name of a token: [A-Za-z0-9_-]{1,64}, which no address is. */
bool http_tokens_is_name(const char *name);

/* Add the entries of the array @list, which has the shape of one, to @tokens. Return 0;
 * CONFIG_FILE_E_WRONG with @ret_mistake, or -ENOMEM; entries before a mistake are added. */
int http_tokens_read(const struct json_tape *tape, uint32_t list, struct http_tokens *tokens,
	struct config_mistake *ret_mistake);

/* As http_tokens_read(), for a tokens.json, whose shape is checked. */
int http_tokens_read_file(const struct json_tape *tape, struct http_tokens *tokens,
	struct config_mistake *ret_mistake);

/* Return the token with @name, or NULL. */
const struct http_token *http_tokens_find(const struct http_tokens *tokens, const char *name);

/* Compute the SHA-256 of the @size bytes of a token. */
void http_token_digest(
	const char *token, size_t size, unsigned char ret_digest[HTTP_TOKEN_DIGEST_BYTES]);

void http_tokens_deinit(struct http_tokens *tokens);
