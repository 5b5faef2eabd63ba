/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/pattern.h"

#include <errno.h>

#include "schema/compile.h"
#include "schema/shape.h"

#define PATTERN_OPTIONS                                                                            \
	(PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |  \
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NO_UTF_CHECK)

struct pattern {
	struct regex regex;
	const struct shape *shape; /* or NULL: the engine is needed */
	struct pattern *next;
};

/* Compile what was @translated. */
static int compile(
	const struct buffer *translated, struct regex *ret_regex, struct regex_error *ret_error)
{
	return regex_compile(translated->data ? translated->data : "", translated->size,
		PATTERN_OPTIONS, ret_regex, ret_error);
}

/* Give @pattern, whose text is @text, a shape if it has one. */
static int add_shape(
	const struct subschema *subschema, const struct buffer *text, struct pattern *pattern)
{
	struct shape shape;
	struct shape *copy;

	if (text->size == 0 || !shape_read(text->data, text->size, &shape))
		return 0;
	copy = compile_alloc(subschema, sizeof(shape));
	if (!copy)
		return -ENOMEM;
	*copy = shape;
	pattern->shape = copy;
	return 0;
}

static int add_pattern(const struct subschema *subschema, uint32_t token, const struct buffer *text,
	const struct buffer *translated, const struct pattern **ret)
{
	struct schema *schema = subschema->compiler->schema;
	struct pattern *pattern = compile_alloc(subschema, sizeof(*pattern));
	struct regex_error error;
	int r;

	if (!pattern)
		return -ENOMEM;
	r = compile(translated, &pattern->regex, &error);
	if (r > 0)
		return compile_refuse(subschema, token, "no regular expression: %s", error.message);
	if (r < 0)
		return r;
	regex_make_fast(&pattern->regex);
	pattern->next = schema->patterns;
	schema->patterns = pattern;
	*ret = pattern;
	return add_shape(subschema, text, pattern);
}

int compile_pattern(const struct subschema *subschema, uint32_t token, const struct pattern **ret)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer translated = {0};
	const char *why;

	json_string_decode(subschema->tape, token, &text);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	if (!pattern_translate(text.data ? text.data : "", text.size, &translated, &why))
		return compile_refuse(
			subschema, token, "no regular expression of ECMA-262: %s", why);
	if (buffer_status(&translated) < 0)
		return buffer_status(&translated);
	return add_pattern(subschema, token, &text, &translated, ret);
}

void pattern_free(struct pattern *patterns)
{
	for (; patterns; patterns = patterns->next)
		regex_deinit(&patterns->regex);
}

bool pattern_is_valid(const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer translated = {0};
	cleanup(regex_deinit) struct regex regex = {0};
	struct regex_error error;
	const char *why;

	if (!pattern_translate(text, size, &translated, &why) || buffer_status(&translated) < 0)
		return false;
	/* A look-behind of variable length is a pattern, though PCRE2 cannot run it. */
	return compile(&translated, &regex, &error) == 0 ||
	       error.code == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH;
}

enum regex_result pattern_match(
	const struct pattern *pattern, struct regex_scratch *scratch, const char *text, size_t size)
{
	if (pattern->shape) {
		enum shape_result result = shape_match(pattern->shape, text, size);

		if (result != SHAPE_UNKNOWN)
			return result == SHAPE_MATCHES ? REGEX_MATCHES : REGEX_DIFFERS;
	}
	return regex_match(&pattern->regex, scratch, text, size);
}
