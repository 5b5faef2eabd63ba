/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/pattern.h"

#include <errno.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "schema/compile.h"
#include "schema/shape.h"

/* What a match may use beside its steps. */
#define PATTERN_HEAP_KIB        16384
#define PATTERN_JIT_STACK_FIRST ((size_t)32 * 1024)
#define PATTERN_JIT_STACK_MAX   ((size_t)512 * 1024)

/* Room for what PCRE2 says of a pattern. */
#define PCRE2_MESSAGE_BYTES 256

#define PATTERN_OPTIONS                                                                            \
	(PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |  \
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NO_UTF_CHECK)

struct pattern {
	pcre2_code *code;
	bool is_compiled;          /* to machine code */
	const struct shape *shape; /* or NULL: the engine is needed */
	struct pattern *next;
};

struct pattern_scratch {
	pcre2_match_data *match;
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
};

struct pattern_scratch *pattern_scratch_new(void)
{
	struct pattern_scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return NULL;
	scratch->match = pcre2_match_data_create(1, NULL);
	scratch->limits = pcre2_match_context_create(NULL);
	scratch->stack =
		pcre2_jit_stack_create(PATTERN_JIT_STACK_FIRST, PATTERN_JIT_STACK_MAX, NULL);
	if (!scratch->match || !scratch->limits || !scratch->stack) {
		pattern_scratch_free(scratch);
		return NULL;
	}
	pattern_scratch_limit(scratch, PATTERN_STEPS_MAX);
	pcre2_set_heap_limit(scratch->limits, PATTERN_HEAP_KIB);
	pcre2_jit_stack_assign(scratch->limits, NULL, scratch->stack);
	return scratch;
}

void pattern_scratch_limit(struct pattern_scratch *scratch, uint32_t steps)
{
	pcre2_set_match_limit(scratch->limits, steps);
	pcre2_set_depth_limit(scratch->limits, steps);
}

void pattern_scratch_free(struct pattern_scratch *scratch)
{
	if (!scratch)
		return;
	pcre2_match_data_free(scratch->match);
	pcre2_match_context_free(scratch->limits);
	pcre2_jit_stack_free(scratch->stack);
	free(scratch);
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
	PCRE2_UCHAR message[PCRE2_MESSAGE_BYTES];
	PCRE2_SIZE offset;
	int code;

	if (!pattern)
		return -ENOMEM;
	pattern->code = pcre2_compile((PCRE2_SPTR)(translated->data ? translated->data : ""),
		translated->size, PATTERN_OPTIONS, &code, &offset, NULL);
	if (!pattern->code) {
		if (code == PCRE2_ERROR_NOMEMORY)
			return -ENOMEM;
		pcre2_get_error_message(code, message, sizeof(message));
		return compile_refuse(
			subschema, token, "no regular expression: %s", (const char *)message);
	}
	pattern->is_compiled = pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE) == 0;
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
		pcre2_code_free(patterns->code);
}

bool pattern_is_valid(const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer translated = {0};
	const char *why;
	pcre2_code *code;
	PCRE2_SIZE offset;
	int error;

	if (!pattern_translate(text, size, &translated, &why) || buffer_status(&translated) < 0)
		return false;
	code = pcre2_compile((PCRE2_SPTR)(translated.data ? translated.data : ""), translated.size,
		PATTERN_OPTIONS, &error, &offset, NULL);
	pcre2_code_free(code);
	/* A look-behind of variable length is a pattern, though PCRE2 cannot run it. */
	return code || error == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH;
}

enum pattern_result pattern_match(const struct pattern *pattern, struct pattern_scratch *scratch,
	const char *text, size_t size)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)text;
	int r = PCRE2_ERROR_JIT_STACKLIMIT;

	if (pattern->shape) {
		enum shape_result result = shape_match(pattern->shape, text, size);

		if (result != SHAPE_UNKNOWN)
			return result == SHAPE_MATCHES ? PATTERN_MATCHES : PATTERN_DIFFERS;
	}
	if (pattern->is_compiled)
		r = pcre2_jit_match(pattern->code, subject, size, 0, PCRE2_NO_UTF_CHECK,
			scratch->match, scratch->limits);
	/* The interpreter has the heap where machine code has only its stack. */
	if (r == PCRE2_ERROR_JIT_STACKLIMIT)
		r = pcre2_match(pattern->code, subject, size, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
			scratch->match, scratch->limits);
	if (r >= 0)
		return PATTERN_MATCHES;
	return r == PCRE2_ERROR_NOMATCH ? PATTERN_DIFFERS : PATTERN_TOO_COSTLY;
}
