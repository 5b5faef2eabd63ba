/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/clock.h"

/* The memory that a match may use in addition to its steps. */
#define REGEX_HEAP_KIB        16384
#define REGEX_JIT_STACK_FIRST ((size_t)32 * 1024)
#define REGEX_JIT_STACK_MAX   ((size_t)4 * 1024 * 1024)

/* Work between two looks at the clock: one unit for a callout, and one for so many bytes of the
 * text, all perhaps read since the last callout. */
#define WORK_PER_LOOK  4096
#define BYTES_PER_WORK 512

struct regex_scratch {
	pcre2_match_data *match; /* NULL, like the next two, before the first search */
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
	uint32_t steps_max;
	size_t work_left;       /* until the clock is looked at, over all searches */
	uint64_t end_ns;        /* the end of this search, in the thread's time; 0: no look yet */
	uint64_t *whole_end_ns; /* the end of a larger piece of work, or NULL */
	const uint64_t *whole_most_ns;
	bool was_long;
};

/* Returns 0 to let PCRE2 go on, or what it gives up with. */
static int look_at_time(pcre2_callout_block *block, void *userdata)
{
	struct regex_scratch *scratch = userdata;
	size_t work = 1 + block->subject_length / BYTES_PER_WORK;

	if (scratch->work_left > work) {
		scratch->work_left -= work;
		return 0;
	}
	scratch->work_left = WORK_PER_LOOK;
	scratch->was_long = true;
	if (clock_is_up(&scratch->end_ns, REGEX_NS_MAX) ||
		(scratch->whole_end_ns &&
			clock_is_up(scratch->whole_end_ns, *scratch->whole_most_ns)))
		return PCRE2_ERROR_CALLOUT;
	return 0;
}

int regex_compile(const char *text, size_t size, uint32_t options, uint32_t more_options,
	struct regex *ret_regex, struct regex_error *ret_error)
{
	pcre2_compile_context *context = more_options ? pcre2_compile_context_create(NULL) : NULL;
	pcre2_code *code;

	if (more_options && !context)
		return -ENOMEM;
	if (context)
		pcre2_set_compile_extra_options(context, more_options);
	code = pcre2_compile(
		(PCRE2_SPTR)text, size, options, &ret_error->code, &ret_error->offset, context);
	pcre2_compile_context_free(context);
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

bool regex_can_be_fast(void)
{
	const int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
	uint32_t has_jit = 0;
	void *memory;

	if (pcre2_config(PCRE2_CONFIG_JIT, &has_jit) < 0 || !has_jit)
		return false;
	/* That is how PCRE2 asks for the memory of machine code. Its compiler, which is not needed
	 * for a shape, is not touched. */
	memory = mmap(NULL, 1, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory != MAP_FAILED && munmap(memory, 1) == 0;
}

void regex_deinit(struct regex *regex)
{
	pcre2_code_free(regex->code);
	*regex = (struct regex){0};
}

struct regex_scratch *regex_scratch_new(void)
{
	struct regex_scratch *scratch = calloc(1, sizeof(*scratch));

	if (scratch)
		scratch->steps_max = REGEX_STEPS_MAX;
	return scratch;
}

static void set_steps(struct regex_scratch *scratch)
{
	pcre2_set_match_limit(scratch->limits, scratch->steps_max);
	pcre2_set_depth_limit(scratch->limits, scratch->steps_max);
}

/* Return the memory of PCRE2 to its state before the first search. */
static void drop_engine(struct regex_scratch *scratch)
{
	pcre2_match_data_free(scratch->match);
	pcre2_match_context_free(scratch->limits);
	pcre2_jit_stack_free(scratch->stack);
	scratch->match = NULL;
	scratch->limits = NULL;
	scratch->stack = NULL;
}

/* Get the memory of PCRE2, before the first search: most services have no pattern that needs it.
 * Return whether there was memory. */
static bool get_engine(struct regex_scratch *scratch)
{
	scratch->match = pcre2_match_data_create(1, NULL);
	scratch->limits = pcre2_match_context_create(NULL);
	scratch->stack = pcre2_jit_stack_create(REGEX_JIT_STACK_FIRST, REGEX_JIT_STACK_MAX, NULL);
	if (!scratch->match || !scratch->limits || !scratch->stack) {
		drop_engine(scratch);
		return false;
	}
	set_steps(scratch);
	pcre2_set_callout(scratch->limits, look_at_time, scratch);
	pcre2_set_heap_limit(scratch->limits, REGEX_HEAP_KIB);
	pcre2_jit_stack_assign(scratch->limits, NULL, scratch->stack);
	return true;
}

void regex_scratch_limit(struct regex_scratch *scratch, uint32_t steps)
{
	scratch->steps_max = steps;
	if (scratch->limits)
		set_steps(scratch);
}

void regex_scratch_share(struct regex_scratch *scratch, uint64_t *end_ns, const uint64_t *most_ns)
{
	scratch->whole_end_ns = end_ns;
	scratch->whole_most_ns = most_ns;
}

void regex_scratch_free(struct regex_scratch *scratch)
{
	if (!scratch)
		return;
	if (scratch->match)
		drop_engine(scratch);
	free(scratch);
}

enum regex_result regex_match(
	const struct regex *regex, struct regex_scratch *scratch, const char *text, size_t size)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)text;
	int r = PCRE2_ERROR_JIT_STACKLIMIT;

	if (!scratch->match && !get_engine(scratch))
		return REGEX_TOO_COSTLY;
	scratch->end_ns = 0;
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

/* ── groups ──────────────────────────────────────────────────────────────────────────────────── */

/* An entry of PCRE2's table of names: two bytes with the number of the group, and the name. */
static const unsigned char *group_entry(const struct regex *regex, uint32_t index)
{
	PCRE2_SPTR table;
	uint32_t entry_size;

	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMETABLE, &table);
	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
	return table + (size_t)index * entry_size;
}

uint32_t regex_n_groups(const struct regex *regex)
{
	uint32_t n = 0;

	pcre2_pattern_info(regex->code, PCRE2_INFO_NAMECOUNT, &n);
	return n;
}

const char *regex_group_name(const struct regex *regex, uint32_t index)
{
	return (const char *)group_entry(regex, index) + 2;
}

/* Pass on the groups of the match in @match of @text. The table is sorted, so groups of one name
 * are neighbours. */
static void pass_groups(const struct regex *regex, pcre2_match_data *match, const char *text,
	regex_group_function function, void *data)
{
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(match);
	const char *passed = NULL;

	for (uint32_t i = 0; i < regex_n_groups(regex); i++) {
		const unsigned char *entry = group_entry(regex, i);
		const PCRE2_SIZE *place = places + 2 * (size_t)(entry[0] << 8 | entry[1]);
		const char *name = (const char *)entry + 2;

		if (place[0] == PCRE2_UNSET || (passed && strcmp(passed, name) == 0))
			continue;
		/* \K in a lookahead can put the start of a match after its end. */
		function(
			data, name, text + place[0], place[1] > place[0] ? place[1] - place[0] : 0);
		passed = name;
	}
}

enum regex_result regex_match_groups(const struct regex *regex, struct regex_scratch *scratch,
	const char *text, size_t size, regex_group_function function, void *data)
{
	pcre2_match_data *match;
	enum regex_result result = regex_match(regex, scratch, text, size);

	if (result != REGEX_MATCHES || regex_n_groups(regex) == 0)
		return result;
	/* The memory of other searches has room for no group. */
	match = pcre2_match_data_create_from_pattern(regex->code, NULL);
	if (!match)
		return REGEX_TOO_COSTLY;
	scratch->end_ns = 0;
	if (pcre2_match(regex->code, (PCRE2_SPTR)text, size, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
		    match, scratch->limits) > 0)
		pass_groups(regex, match, text, function, data);
	else
		result = REGEX_TOO_COSTLY;
	pcre2_match_data_free(match);
	return result;
}

bool regex_scratch_was_long(struct regex_scratch *scratch)
{
	bool was_long = scratch->was_long;

	scratch->was_long = false;
	return was_long;
}
