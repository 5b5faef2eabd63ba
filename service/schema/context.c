/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/context.h"

#include <stdlib.h>
#include <string.h>

#include "schema/pace.h"
#include "util/clock.h"

/*
 * The state of a check: all of its memory grows here and stays for the next check, so after the
 * first few checks nothing is allocated any more.
 */

#define STACK_FIRST 64

struct schema_context *schema_context_new(void)
{
	struct schema_context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->scratch = regex_scratch_new();
	context->marks = calloc(STACK_FIRST, sizeof(*context->marks));
	context->marks_capacity = STACK_FIRST;
	if (!context->scratch || !context->marks) {
		schema_context_free(context);
		return NULL;
	}
	schema_context_limit_time(context, SCHEMA_CHECK_MS);
	regex_scratch_share(context->scratch, &context->end_ns, &context->most_ns);
	return context;
}

void schema_context_limit_time(struct schema_context *context, uint32_t ms)
{
	context->limit_ns = ms > 0 ? (uint64_t)ms * NS_PER_MS : CLOCK_UNITS_MAX / 2;
}

void schema_context_limit_patterns(struct schema_context *context, uint32_t steps)
{
	regex_scratch_limit(context->scratch, steps);
}

void schema_context_free(struct schema_context *context)
{
	if (!context)
		return;
	buffer_deinit(&context->text);
	regex_scratch_free(context->scratch);
	free(context->marks);
	free(context->scopes);
	free(context->unique);
	free(context);
}

/* Move steps from steps_behind to steps_left. */
static void take_slice(struct schema_context *context, uint64_t steps)
{
	context->steps_left = steps < STEPS_PER_LOOK ? steps : STEPS_PER_LOOK;
	context->steps_behind = steps - context->steps_left;
}

/* Return the time for an instance of @n_tokens: half of @limit_ns beyond what reading it costs, and
 * @limit_ns at least. The loop has spent the time of reading once already. */
static uint64_t add_reading(uint64_t limit_ns, uint32_t n_tokens)
{
	uint64_t most_ns = pace_reading_ns(n_tokens) + limit_ns / 2;

	return most_ns > limit_ns ? most_ns : limit_ns;
}

/* Make ready for a pass over @tape. */
static void begin_pass(
	struct schema_context *context, const struct schema *schema, const struct json_tape *tape)
{
	uint64_t steps = STEPS_BASE + (uint64_t)tape->count * STEPS_PER_TOKEN;

	context->schema = schema;
	context->tape = tape;
	if (context->end_ns == 0) {
		context->most_ns = context->is_linear ? CLOCK_UNITS_MAX / 2 : context->limit_ns;
		if (tape->count >= PACE_TOKENS && !context->is_linear)
			context->most_ns = add_reading(context->limit_ns, tape->count);
	}
	take_slice(context, context->is_linear || steps < STEPS_MAX ? steps : STEPS_MAX);
	context->depth = 0;
	context->marks_used = MARKS_NONE + 1;
	context->scopes_used = 0;
}

void context_begin(
	struct schema_context *context, const struct schema *schema, const struct json_tape *tape)
{
	context->end_ns = 0;
	context->stop = STOP_NONE;
	context->has_spelled = false;
	begin_pass(context, schema, tape);
}

void context_follow(
	struct schema_context *context, const struct schema *schema, const struct json_tape *tape)
{
	begin_pass(context, schema, tape);
	if (context->stop != STOP_NONE)
		context_stop(context, context->stop);
}

bool context_stop(struct schema_context *context, enum context_stop stop)
{
	if (context->stop == STOP_NONE)
		context->stop = stop;
	context->steps_left = 0;
	context->steps_behind = 0;
	return false;
}

const char *schema_stop_text(const struct schema_context *context)
{
	static const char *const texts[] = {
		[STOP_NONE] = "does not satisfy the schema",
		[STOP_STEPS] = "cannot be checked: it takes too many steps",
		[STOP_TIME] = "cannot be checked: it takes too long",
		[STOP_DEPTH] = "cannot be checked: it or the schema is nested without end",
		[STOP_PATTERN] = "cannot be checked: matching a pattern takes too long",
		[STOP_FORMAT] = "cannot be checked: a text is too long for its format",
		[STOP_MEMORY] = "cannot be checked: out of memory",
	};

	return texts[context->stop];
}

uint64_t schema_spent_ns(const struct schema_context *context)
{
	return context->end_ns > 0 ? clock_thread_ns() + context->most_ns - context->end_ns : 0;
}

bool context_look(struct schema_context *context, uint64_t steps)
{
	uint64_t left = context->steps_left + context->steps_behind;

	if (left < steps)
		return context_stop(context, STOP_STEPS);
	if (clock_is_up(&context->end_ns, context->most_ns))
		return context_stop(context, STOP_TIME);
	take_slice(context, left - steps);
	return true;
}

uint32_t context_push_marks(struct schema_context *context, uint32_t count)
{
	uint32_t row = context->marks_used;
	uint32_t words = count / 64 + 1;

	if (!context_spend(context, words / WORDS_PER_STEP))
		return MARKS_NONE;
	if (context->marks_capacity - row < words) {
		uint32_t capacity = (row + words) * 2;
		uint64_t *marks = reallocarray(context->marks, capacity, sizeof(*marks));

		if (!marks) {
			context_stop(context, STOP_MEMORY);
			return MARKS_NONE;
		}
		context->marks = marks;
		context->marks_capacity = capacity;
	}
	memset(context->marks + row, 0, words * sizeof(*context->marks));
	context->marks_used += words;
	return row;
}

bool context_enter_scope(struct schema_context *context, const struct node *node)
{
	uint32_t used = context->scopes_used;

	if (!context->schema->is_dynamic ||
		(used > 0 && context->scopes[used - 1] == node->resource))
		return false;
	if (used == context->scopes_capacity) {
		uint32_t capacity = used ? used * 2 : STACK_FIRST;
		uint32_t *scopes = reallocarray(context->scopes, capacity, sizeof(*scopes));

		if (!scopes)
			return context_stop(context, STOP_MEMORY);
		context->scopes = scopes;
		context->scopes_capacity = capacity;
	}
	context->scopes[context->scopes_used++] = node->resource;
	return true;
}

void context_leave_scope(struct schema_context *context)
{
	context->scopes_used--;
}

/* Return the candidate of @applicator in @resource, or NULL. */
static const struct node *find_candidate(
	const struct node_applicator *applicator, uint32_t resource)
{
	uint32_t low = 0;
	uint32_t high = applicator->n_candidates;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct node_candidate *candidate = &applicator->candidates[middle];

		if (candidate->resource == resource)
			return candidate->node;
		if (candidate->resource < resource)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct node *context_find_dynamic(
	struct schema_context *context, const struct node_applicator *applicator)
{
	if (applicator->n_candidates == 1 || !context_spend(context, context->scopes_used))
		return applicator->nodes[0];
	for (uint32_t i = 0; i < context->scopes_used; i++) {
		const struct node *node = find_candidate(applicator, context->scopes[i]);

		if (node)
			return node;
	}
	return applicator->nodes[0];
}

const char *context_text(struct schema_context *context, uint32_t index, size_t *ret_size)
{
	const struct json_token *token = json_at(context->tape, index);

	if (!(token->flags & JSON_ESCAPED)) {
		*ret_size = token->length;
		return json_bytes(context->tape, index);
	}
	buffer_reset(&context->text);
	json_string_decode(context->tape, index, &context->text);
	if (!buffer_terminate(&context->text)) {
		context_stop(context, STOP_MEMORY);
		return NULL;
	}
	*ret_size = context->text.size;
	return context->text.data;
}

uint32_t context_find_key(
	struct schema_context *context, const struct key_set *set, uint32_t index, uint32_t guess)
{
	const struct json_token *token = json_at(context->tape, index);
	const char *end = context->tape->text + context->tape->size;
	const char *text = json_bytes(context->tape, index);
	size_t size = token->length;
	struct key key;

	if (!context_spend_bytes(context, index))
		return KEY_NONE;
	if (token->flags & JSON_ESCAPED) {
		text = context_text(context, index, &size);
		if (!text)
			return KEY_NONE;
		end = text + size;
	}
	key = key_make(text, (uint32_t)size, end);
	return key_set_find(set, &key, guess);
}

bool schema_fills(const struct schema *schema, const struct schema_context *context)
{
	return schema->has_defaults || context->has_spelled;
}
