/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/pattern.h"

#include <errno.h>
#include <stdlib.h>

#include "regex/shape.h"
#include "regex/translate.h"

#define PATTERN_OPTIONS                                                                            \
	(PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |  \
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NO_UTF_CHECK)

struct pattern {
	struct regex regex;
	struct buffer translated; /* a brief pattern for the engine, while @regex is empty */
	bool has_shape;
	struct shape shape[]; /* one shape if has_shape, else no memory: a shape is large */
};

/* Compile the result of regex_translate(), as regex_compile() does. */
static int compile_translated(
	const struct buffer *translated, struct regex *ret_regex, struct regex_error *ret_error)
{
	return regex_compile(buffer_text(translated), translated->size, PATTERN_OPTIONS,
		PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES, ret_regex, ret_error);
}

/* Allocate a pattern, with the shape of the text if it has one; NULL without memory. */
static struct pattern *alloc_pattern(const char *text, size_t size)
{
	struct shape shape;
	bool has_shape = size > 0 && shape_read(text, size, &shape);
	struct pattern *pattern =
		malloc(sizeof(*pattern) + (has_shape ? sizeof(pattern->shape[0]) : 0));

	if (!pattern)
		return NULL;
	*pattern = (struct pattern){.has_shape = has_shape};
	if (has_shape)
		pattern->shape[0] = shape;
	return pattern;
}

/* Translate the pattern for PCRE2, as pattern_new() does. */
static int translate(
	const char *text, size_t size, struct buffer *ret_translated, struct buffer *ret_reason)
{
	const char *reason;

	if (regex_translate(text, size, ret_translated, &reason))
		return buffer_status(ret_translated);
	buffer_printf(ret_reason, "not a regular expression of ECMA-262: %s", reason);
	return REGEX_E_REFUSED;
}

int pattern_new(
	const char *text, size_t size, struct pattern **ret_pattern, struct buffer *ret_reason)
{
	cleanup(buffer_deinit) struct buffer translated = {0};
	cleanup(pattern_cleanup) struct pattern *pattern = alloc_pattern(text, size);
	struct regex_error error;
	int r = pattern ? translate(text, size, &translated, ret_reason) : -ENOMEM;

	if (r == 0) {
		r = compile_translated(&translated, &pattern->regex, &error);
		if (r > 0)
			buffer_printf(ret_reason, "no regular expression: %s", error.message);
	}
	if (r != 0)
		return r;
	regex_make_fast(&pattern->regex);
	*ret_pattern = take_ptr(pattern);
	return 0;
}

int pattern_new_brief(
	const char *text, size_t size, struct pattern **ret_pattern, struct buffer *ret_reason)
{
	cleanup(pattern_cleanup) struct pattern *pattern = alloc_pattern(text, size);
	int r = pattern ? translate(text, size, &pattern->translated, ret_reason) : -ENOMEM;

	if (r == 0)
		*ret_pattern = take_ptr(pattern);
	return r;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	regex_deinit(&pattern->regex);
	buffer_deinit(&pattern->translated);
	free(pattern);
}

bool pattern_is_valid(const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer translated = {0};
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;
	const char *reason;

	if (!regex_translate(text, size, &translated, &reason) || buffer_status(&translated) < 0)
		return false;
	return compile_translated(&translated, &regex, &error) == 0 ||
	       error.code == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH;
}

/* Compile the brief @pattern for one search. */
static enum regex_result match_brief(
	const struct pattern *pattern, struct regex_scratch *scratch, const char *text, size_t size)
{
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;

	return compile_translated(&pattern->translated, &regex, &error) == 0
		       ? regex_match(&regex, scratch, text, size)
		       : REGEX_TOO_COSTLY;
}

enum regex_result pattern_match(
	const struct pattern *pattern, struct regex_scratch *scratch, const char *text, size_t size)
{
	if (pattern->has_shape) {
		enum shape_result result = shape_match(&pattern->shape[0], text, size);

		if (result != SHAPE_UNKNOWN)
			return result == SHAPE_MATCHES ? REGEX_MATCHES : REGEX_DIFFERS;
	}
	return pattern->regex.code ? regex_match(&pattern->regex, scratch, text, size)
				   : match_brief(pattern, scratch, text, size);
}
