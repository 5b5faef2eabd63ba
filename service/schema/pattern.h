/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

struct subschema;

/*
 * Regular expressions as `pattern` and `patternProperties` have them: ECMA-262 with the flag u, not
 * anchored, run by PCRE2 with a bound on the work that one match may cost.
 */
struct pattern;
struct pattern_scratch;

/* What a match came to. */
enum pattern_result {
	PATTERN_DIFFERS,
	PATTERN_MATCHES,
	PATTERN_TOO_COSTLY, /* the bound was reached: nobody knows */
};

/* The most steps of a backtracking match, unless others are set. */
#define PATTERN_STEPS_MAX 100000

/* The pattern that is the string (or key) at @token, owned by the schema. */
int compile_pattern(const struct subschema *subschema, uint32_t token, const struct pattern **ret);

/* Whether the @size bytes of UTF-8 at @text are a pattern. */
bool pattern_is_valid(const char *text, size_t size);

/* Give back a list of patterns. */
void pattern_free(struct pattern *patterns);

/* NULL without memory. */
struct pattern_scratch *pattern_scratch_new(void);

/* The most steps of a match from now on. */
void pattern_scratch_limit(struct pattern_scratch *scratch, uint32_t steps);

/* Takes NULL. */
void pattern_scratch_free(struct pattern_scratch *scratch);

/* Whether the @size bytes of UTF-8 at @text hold a match. */
enum pattern_result pattern_match(const struct pattern *pattern, struct pattern_scratch *scratch,
	const char *text, size_t size);

/* Append to @out the ECMA-262 pattern @text translated for PCRE2. Returns false, with @ret_why a
 * constant, for what ECMA-262 does not have. (In translate.c.) */
bool pattern_translate(const char *text, size_t size, struct buffer *out, const char **ret_why);
