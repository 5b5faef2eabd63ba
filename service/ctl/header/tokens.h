/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tokens of preprocessed C, with the places where its author wrote them.
 *
 *   # 1795 "/usr/include/zlib.h" 3 4     a line marker: the next line is line 1795 of that file
 *   extern uLong crc32(uLong crc, …);    tokens
 *   / * … * /                            a comment (cc -E -C), kept beside the tokens
 */

enum c_token_kind {
	C_TOKEN_END,
	C_TOKEN_NAME,
	C_TOKEN_NUMBER,
	C_TOKEN_TEXT, /* a string or a character, with its quotes */
	C_TOKEN_MARK, /* punctuation: one character, but for `...`, `<<`, `>>` and the like */
};

/* No comment. */
#define C_COMMENT_NONE UINT32_MAX

struct c_token {
	enum c_token_kind kind;
	uint32_t offset; /* in the text */
	uint32_t length;
	uint32_t file; /* an index of c_tokens.files */
	uint32_t line;
	uint32_t comment; /* the last comment between the token before and this one, or NONE */
	uint32_t first_comment; /* the first of these */
};

struct c_comment {
	uint32_t offset; /* with its marks */
	uint32_t length;
};

/* A file that a line of the source on standard input includes. */
struct c_include {
	uint32_t line;
	uint32_t file; /* an index of c_tokens.files */
};

struct c_tokens {
	const char *text;      /* borrowed */
	struct c_token *items; /* the last one is END */
	size_t n_items;
	struct c_comment *comments;
	size_t n_comments;
	char **files;
	size_t n_files;
	struct c_include *includes;
	size_t n_includes;
};

/* The most bytes of a preprocessed header. */
#define C_TEXT_BYTES_MAX (32u << 20)

/* Positive results. */
enum c_tokens_status {
	C_TOKENS_E_SIZE = 1, /* more than C_TEXT_BYTES_MAX bytes */
};

/* Read @size bytes at @text, which need no NUL, into @ret_tokens, which the caller deinits. Any
 * bytes have tokens. Return 0, an enum c_tokens_status or -ENOMEM. */
int c_tokens_read(const char *text, size_t size, struct c_tokens *ret_tokens);

void c_tokens_deinit(struct c_tokens *tokens);

/* Return whether @token has the NUL-terminated @text. */
bool c_token_is(const struct c_tokens *tokens, const struct c_token *token, const char *text);
