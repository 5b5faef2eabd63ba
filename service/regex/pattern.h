/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "regex/regex.h"
#include "util/buffer.h"

/*
 * Patterns: regular expressions of ECMA-262 with the flag u, not anchored, as JSON Schema has them.
 *
 *   text ──regex/translate──▶ PCRE2 ──▶ struct regex   the general way, bounded
 *     └────regex/shape──────────────▶ struct shape     most patterns of tools: a walk, no engine
 */
struct pattern;

/* Compile the @size bytes of UTF-8 at @text. 0 with @ret_pattern, which the caller frees with
 * pattern_free(); REGEX_E_REFUSED with the reason appended to @ret_reason; or -ENOMEM. */
int pattern_new(
	const char *text, size_t size, struct pattern **ret_pattern, struct buffer *ret_reason);

/* The same without the engine, for a pattern of ours that few texts are held against. Such a
 * pattern is compiled anew for each text that its shape does not decide. PCRE2 does not judge it
 * here: a text that PCRE2 refuses makes each match too costly. */
int pattern_new_brief(
	const char *text, size_t size, struct pattern **ret_pattern, struct buffer *ret_reason);

/* Free the pattern. Takes NULL. */
void pattern_free(struct pattern *pattern);

/* Return whether the @size bytes of UTF-8 at @text are a pattern. This includes patterns beyond
 * PCRE2, refused by pattern_new(): a `(?<=` of variable length. */
bool pattern_is_valid(const char *text, size_t size);

/* Search the @size bytes of UTF-8 at @text for a match, with the bounds of regex_match(). */
enum regex_result pattern_match(const struct pattern *pattern, struct regex_scratch *scratch,
	const char *text, size_t size);

CLEANUP_DEFINE(pattern, struct pattern *, pattern_free)
