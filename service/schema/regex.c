/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/regex.h"

#include <errno.h>
#include <stdlib.h>

/* What a match may use beside its steps. */
#define REGEX_HEAP_KIB        16384
#define REGEX_JIT_STACK_FIRST ((size_t)32 * 1024)
#define REGEX_JIT_STACK_MAX   ((size_t)512 * 1024)

struct regex_scratch {
	pcre2_match_data *match;
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
};

int regex_compile(const char *text, size_t size, uint32_t options, struct regex *ret_regex,
	struct regex_error *ret_error)
{
	pcre2_code *code = pcre2_compile(
		(PCRE2_SPTR)text, size, options, &ret_error->code, &ret_error->offset, NULL);

	if (code) {
		*ret_regex = (struct regex){.code = code};
		return 0;
	}
	if (ret_error->code == PCRE2_ERROR_NOMEMORY)
		return -ENOMEM;
	pcre2_get_error_message(
		ret_error->code, (PCRE2_UCHAR *)ret_error->message, sizeof(ret_error->message));
	return REGEX_E_REFUSED;
}

void regex_make_fast(struct regex *regex)
{
	regex->is_fast = pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0;
}

void regex_deinit(struct regex *regex)
{
	pcre2_code_free(regex->code);
	*regex = (struct regex){0};
}

struct regex_scratch *regex_scratch_new(void)
{
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return NULL;
	scratch->match = pcre2_match_data_create(1, NULL);
	scratch->limits = pcre2_match_context_create(NULL);
	scratch->stack = pcre2_jit_stack_create(REGEX_JIT_STACK_FIRST, REGEX_JIT_STACK_MAX, NULL);
	if (!scratch->match || !scratch->limits || !scratch->stack)
		return NULL;
	regex_scratch_limit(scratch, REGEX_STEPS_MAX);
	pcre2_set_heap_limit(scratch->limits, REGEX_HEAP_KIB);
	pcre2_jit_stack_assign(scratch->limits, NULL, scratch->stack);
	return take_ptr(scratch);
}

void regex_scratch_limit(struct regex_scratch *scratch, uint32_t steps)
{
	pcre2_set_match_limit(scratch->limits, steps);
	pcre2_set_depth_limit(scratch->limits, steps);
}

void regex_scratch_free(struct regex_scratch *scratch)
{
	if (!scratch)
		return;
	pcre2_match_data_free(scratch->match);
	pcre2_match_context_free(scratch->limits);
	pcre2_jit_stack_free(scratch->stack);
	free(scratch);
}

enum regex_result regex_match(
	const struct regex *regex, struct regex_scratch *scratch, const char *text, size_t size)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)text;
	int r = PCRE2_ERROR_JIT_STACKLIMIT;

	if (regex->is_fast)
		r = pcre2_jit_match(regex->code, subject, size, 0, PCRE2_NO_UTF_CHECK,
			scratch->match, scratch->limits);
	/* The interpreter has the heap where machine code has only its stack. */
	if (r == PCRE2_ERROR_JIT_STACKLIMIT)
		r = pcre2_match(regex->code, subject, size, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
			scratch->match, scratch->limits);
	if (r >= 0)
		return REGEX_MATCHES;
	return r == PCRE2_ERROR_NOMATCH ? REGEX_DIFFERS : REGEX_TOO_COSTLY;
}
