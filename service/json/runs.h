/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/reader.h"

/*
 * A string's value as a sequence of runs of bytes, for comparing, counting and hashing without a
 * decoded copy.
 *
 *   raw     caf\u00e9 at\t5
 *   runs    "caf"  "é"  " at"  "\t"  "5"     a run is a stretch of the text itself, or one escape
 */
struct json_runs {
	const char *at; /* the rest of the raw text */
	const char *end;
	const char *run; /* the current run: @size bytes, in the text or in @decoded */
	size_t size;
	char decoded[4]; /* the value of one escape, as UTF-8 */
};

/* Start in front of the first run of the string (or key) token @token of the text @text. */
static inline void json_runs_init(
	struct json_runs *runs, const char *text, const struct json_token *token)
{
	*runs = (struct json_runs){
		.at = text + token->offset,
		.end = text + token->offset + token->length,
	};
}

/* Step to the next run; false when there is none. A run is never empty. */
bool json_runs_next(struct json_runs *runs);

/* The value of the four hexadecimal digits at @digits, or -1 when they are not. */
int json_hex4(const char *digits);

/* Whether two strings of one text are equal, decoded. */
bool json_tokens_equal(const char *a_text, const struct json_token *a, const char *b_text,
	const struct json_token *b);
