/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"

/*
 * The reader, which all hostile JSON goes through: one pass over the caller's bytes that checks all
 * of RFC 8259 (and I-JSON, RFC 7493, where it protects us) and leaves a tape of tokens that point
 * into those bytes.
 *
 * It checks the grammar, UTF-8 (no overlong forms, no surrogates), that `\u` surrogates are paired,
 * the nesting depth, that no key occurs twice in an object (compared decoded), that no key contains
 * NUL, and that only white space follows the value. It allocates nothing per token, and nothing at
 * all on a tape that was large enough before.
 */

/* Why a text was refused. */
enum json_status {
	JSON_E_SYNTAX = 1,    /* not JSON */
	JSON_E_UTF8,          /* bytes that are not UTF-8 */
	JSON_E_SURROGATE,     /* a \u escape of half a surrogate pair */
	JSON_E_DEPTH,         /* more nested containers than asked for */
	JSON_E_DUPLICATE_KEY, /* a key twice in one object */
	JSON_E_NUL_IN_KEY,    /* a key that contains U+0000 */
	JSON_E_SIZE,          /* more than JSON_SIZE_MAX bytes */
	JSON_E_TOKENS,        /* more than tokens_max of the tape */
};

/* The longest text in bytes: offsets have 32 bits. */
#define JSON_SIZE_MAX UINT32_C(0xFFFFFFF0)

/* The depth to ask for if no limit is configured: containers that are open at once. */
#define JSON_DEPTH_DEFAULT 128

/* The place and the reason of a refused text. */
struct json_error {
	int status;          /* enum json_status */
	size_t offset;       /* byte at which the reader noticed it */
	const char *message; /* a constant, for a person: what was expected, what was found */
};

/*
 * Read @size bytes at @text into @tape (zeroed, or used before), with at most @depth_max containers
 * open at once. Returns 0, an enum json_status with @ret_error (may be NULL) filled, or -ENOMEM.
 * After a failure the tape is empty. No byte outside [text, text + size) is read.
 */
int json_tape_read(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error);

/*
 * As json_tape_read(), for a text that is passed on as it is. It also takes what Python and
 * JavaScript write: NaN, Infinity and -Infinity, whose tokens are JSON_NULL; half a surrogate pair,
 * which is decoded as U+FFFD; a key twice; U+0000 in a key. After success ret_error->status is
 * JSON_E_DUPLICATE_KEY or 0.
 */
int json_tape_read_lax(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error);

/* Set the line and the column (both from 1; the column in bytes) of @offset in @text. */
void json_locate(const char *text, size_t offset, unsigned int *ret_line, unsigned int *ret_column);
