/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/tape.h"

/*
 * The reader of all hostile JSON: one pass over the caller's bytes checks all of RFC 8259 (and
 * I-JSON, RFC 7493, where it protects us) and leaves a tape of tokens, which point into the bytes.
 *
 * It checks the grammar, UTF-8 (no overlong forms, no surrogates), `\u` surrogates (paired), the
 * nesting depth, keys (none twice in an object, compared decoded; none with NUL), and the bytes
 * after the value (only white space). The reader allocates nothing per token, and nothing at all on
 * a tape of enough room.
 */

/* Why a text was refused. */
enum json_status {
	JSON_E_SYNTAX = 1,    /* not JSON */
	JSON_E_UTF8,          /* bytes other than UTF-8 */
	JSON_E_SURROGATE,     /* a \u escape of half a surrogate pair */
	JSON_E_DEPTH,         /* more nested containers than asked for */
	JSON_E_DUPLICATE_KEY, /* a key twice in one object */
	JSON_E_NUL_IN_KEY,    /* a key with U+0000 */
	JSON_E_SIZE,          /* more than JSON_SIZE_MAX bytes */
	JSON_E_TOKENS,        /* more than tokens_max of the tape */
};

/* The longest text in bytes: offsets have 32 bits. */
#define JSON_SIZE_MAX UINT32_C(0xFFFFFFF0)

/* The depth without a configured limit: containers open at once. */
#define JSON_DEPTH_DEFAULT 128

/* The place and the reason of a refused text. */
struct json_error {
	int status;          /* enum json_status */
	size_t offset;       /* byte where the reader noticed the fault */
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
 * As json_tape_read(), for a text to pass on unchanged. Other writers' habits are also taken: NaN,
 * Infinity and -Infinity of Python and JavaScript, whose tokens are JSON_NULL; half a surrogate
 * pair, decoded as U+FFFD; a key twice; U+0000 in a key. After success ret_error->status is
 * JSON_E_DUPLICATE_KEY or 0.
 */
int json_tape_read_lax(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error);

/*
 * As json_tape_read(), or json_tape_read_lax() if @is_lax, for the object with which @text begins.
 * Any bytes may follow: tape->size is the size of the object. So a member of an object is read
 * without a scan for its end before.
 */
int json_tape_read_object(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	bool is_lax, struct json_error *ret_error);

/* Set the line and the column (both from 1; the column in bytes) of @offset in @text. */
void json_locate(const char *text, size_t offset, unsigned int *ret_line, unsigned int *ret_column);
