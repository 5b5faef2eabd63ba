/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Secrets in the environment, the headers and the URL of a server, only named by its manifest:
 *
 *   Bearer ${file:/etc/toolboxd/token}   the file, without the newline at its end
 *   ${env:API_KEY}                       a variable
 *   $${x}                                the text ${x}
 *
 * Any other text with `${` at its start is a mistake. A secret is shown nowhere: it is masked in
 * all words of the server, in each form in which it may repeat them (secret_forms.h). Variables of
 * all programs are no secrets.
 */

/* The longest secret. */
#define MCP_SECRET_BYTES ((size_t)64 << 10)

/* A shorter text is no secret, and too common in a log to be masked. */
#define MCP_MASKED_BYTES 4

/* Positive results of mcp_secrets_expand(). */
#define MCP_E_MISSING 5 /* the reason names what cannot be read */

/* The texts to mask. Zero it before use; free it with mcp_secrets_deinit(). */
struct mcp_secrets {
	struct mcp_secret {
		char *text;
		size_t size;
	} * items; /* the longest first */
	size_t n_items;
	bool begins[256]; /* the first bytes of all */
};

/* Return whether the variable or header @name, of @size bytes, has a secret by its name. */
bool mcp_names_secret(const char *name, size_t size);

/* Mask @text, and each of its lines, in all forms (secret_forms.h), unless it is short. Return 0 or
 * -ENOMEM. */
int mcp_secrets_add(struct mcp_secrets *secrets, const char *text, size_t size);

/* Return whether @text has a secret. */
bool mcp_secrets_are_in(const struct mcp_secrets *secrets, const char *text, size_t size);

/* Append @text, which is whole, with `***` in place of each secret. @out records -ENOMEM. */
void mcp_secrets_mask_whole(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out);

/* The same with the strings of the JSON text @text. Return 0; -EBADMSG: two members of an object
 * have the same name now; or -ENOMEM. */
int mcp_secrets_mask_json(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out);

/* Append the file or the variable @name, of at most MCP_SECRET_BYTES, to @value. Return 0 or a
 * negative errno; -ENOMEM is passed on. */
typedef int (*mcp_secret_function)(
	void *data, bool is_file, const char *name, struct buffer *value);

/*
 * Append @text with the values in place of the names to @out, and add them to @secrets. @is_header:
 * the text is one line of ASCII or UTF-8, without control characters. Return 0; MCP_E_MISSING with
 * a clause without secrets appended to @reason; or -ENOMEM.
 */
int mcp_secrets_expand(struct mcp_secrets *secrets, const char *text, bool is_header,
	mcp_secret_function read, void *data, struct buffer *out, struct buffer *reason);

/* Append @text, a line or the beginning of one, with `***` in place of each secret, also of a
 * secret cut off at the end. */
void mcp_secrets_mask(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out);

/* The same for a part of a text. Return how many bytes were taken: the others may be the beginning
 * of a secret. */
size_t mcp_secrets_mask_part(
	const struct mcp_secrets *secrets, const char *text, size_t size, struct buffer *out);

/* Overwrite the secrets, and free them. */
void mcp_secrets_deinit(struct mcp_secrets *secrets);
