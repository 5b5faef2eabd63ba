/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "regex/regex.h"
#include "util/buffer.h"

/*
 * Triggers of a tool: regular expressions of utterances meaning it (contract.md, Manifest).
 *
 * They are PCRE2's own, searched for anywhere in the utterance, upper and lower case being the
 * same. Letters are Unicode's, for `\w` and `\b` as well: "größer" is one word.
 *
 * An utterance is held against every trigger once, so nothing stays in the processor's caches: they
 * are left to PCRE2's interpreter. For 10,000 triggers machine code takes two to seven times as
 * long, eight times its memory and ten times as long to load; for a hundred it would save ten
 * microseconds.
 */
struct triggers {
	struct regex *items; /* in the manifest's order */
	size_t n_items;
};

#define TRIGGERS_MAX      64   /* the most expressions of one tool */
#define TRIGGER_BYTES_MAX 1024 /* the most bytes of one expression */

/* Positive results. */
enum triggers_status {
	TRIGGERS_E_REFUSED = 1, /* @ret_reason has the expected and the actual value */
};

/* Add the expression @text of @size bytes of UTF-8 to @triggers (zeroed at first). 0,
 * TRIGGERS_E_REFUSED with a line in @ret_reason (NUL-terminated), or -ENOMEM. */
int triggers_add(
	struct triggers *triggers, const char *text, size_t size, struct buffer *ret_reason);

/* Takes zeroed ones. */
void triggers_deinit(struct triggers *triggers);
