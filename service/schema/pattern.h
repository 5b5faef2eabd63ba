/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/regex.h"
#include "util/buffer.h"

struct subschema;

/*
 * Regular expressions as `pattern` and `patternProperties` have them: ECMA-262 with the flag u, not
 * anchored, translated for PCRE2.
 */
struct pattern;

/* The pattern that is the string (or key) at @token, owned by the schema. */
int compile_pattern(const struct subschema *subschema, uint32_t token, const struct pattern **ret);

/* Whether the @size bytes of UTF-8 at @text are a pattern. */
bool pattern_is_valid(const char *text, size_t size);

/* Give back a list of patterns. */
void pattern_free(struct pattern *patterns);

/* Whether the @size bytes of UTF-8 at @text hold a match. */
enum regex_result pattern_match(const struct pattern *pattern, struct regex_scratch *scratch,
	const char *text, size_t size);

/* Append to @out the ECMA-262 pattern @text translated for PCRE2. Returns false, with @ret_why a
 * constant, for what ECMA-262 does not have. (In translate.c.) */
bool pattern_translate(const char *text, size_t size, struct buffer *out, const char **ret_why);
