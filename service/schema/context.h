/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "regex/pattern.h"
#include "schema/node.h"
#include "util/buffer.h"

/*
 * One check of one instance: the state of the walk, and its entry for the second pass.
 *
 * Marks. `unevaluatedProperties` and `unevaluatedItems` ask which members and elements the schemas
 * beside them have looked at. Only below a node that asks, a row of bits is carried, a bit per
 * member or element of the instance; keywords set bits in it. A branch that may fail without
 * failing the whole (in anyOf, oneOf, if, not, dependent schemas) gets a row of its own, added to
 * the row around it if the branch holds, forgotten if not:
 *
 *   node with unevaluatedProperties        row A ◀─────────┐
 *     ├── properties, allOf, $ref            sets in A     │ if it holds: A |= B
 *     └── anyOf ── branch                  row B ──────────┘
 *
 * Everywhere else there is no row (MARKS_NONE), and nothing is marked.
 *
 * Stops. A too costly check ends at once and fails, also inside `not`: every function returns false
 * after a stop is noted, because no steps are left then, and the verdict reads the stop last.
 *
 * Steps. Work is paid for before it is done, in steps of about twenty nanoseconds: one per
 * subschema entered, member or element visited, name compared; more for reading long text. Steps
 * are handed out in slices, and the thread's clock is read between two slices:
 *
 *   steps_behind ──slice──▶ steps_left ──context_spend──▶ 0 ──▶ the clock ──▶ the next slice, or
 * stop
 *
 * So a check ends after the same number of steps everywhere, and by time when steps are slow.
 *
 * Time. A check and its consequences (coercion, explanation, defaults) have one budget: the limit,
 * and as long again as this machine takes to read the instance (schema/pace.h). A flat instance
 * costs about as much to check as to read, so it passes on a slow machine, too.
 */
enum context_stop {
	STOP_NONE,
	STOP_STEPS,   /* the bound on steps */
	STOP_TIME,    /* the bound on the thread's time */
	STOP_DEPTH,   /* the bound on schemas entered inside each other */
	STOP_PATTERN, /* a pattern too costly */
	STOP_FORMAT,  /* a text too long for its format */
	STOP_MEMORY,
};

/* The steps of a check: so many, and some more for each token, up to a maximum. */
#define STEPS_BASE      1000000
#define STEPS_PER_TOKEN 100
#define STEPS_MAX       8000000

/* The steps between two reads of the clock: less than a millisecond. */
#define STEPS_PER_LOOK 32768

/* Bytes of text read, and words of marks cleared or added, for one step. */
#define BYTES_PER_STEP 16
#define WORDS_PER_STEP 8

/* Subschemas entered inside each other; each costs a few stack frames. */
#define RECURSION_MAX 2048

/* No row of marks. */
#define MARKS_NONE 0

struct schema_context {
	const struct schema *schema;
	const struct json_tape *tape;
	uint64_t steps_left;   /* until the clock is looked at */
	uint64_t steps_behind; /* that come after these */
	uint64_t end_ns;       /* the thread's time; 0: the clock was not read yet */
	uint64_t most_ns;      /* from the first look to the end */
	uint64_t limit_ns;     /* the same, before what reading the instance costs is added */
	/* a whole number has a fraction or an exponent where an integer is meant */
	bool has_spelled;
	bool is_linear; /* the schema costs no more than the instance is long: no bounds */
	uint32_t depth;
	enum context_stop stop;
	struct buffer text; /* a decoded string */
	struct regex_scratch *scratch;
	uint64_t *marks; /* rows of bits, a stack; [0] is not used */
	uint32_t marks_used;
	uint32_t marks_capacity;
	uint32_t *scopes; /* resources entered, a stack: the dynamic scope */
	uint32_t scopes_used;
	uint32_t scopes_capacity;
	struct unique_entry *unique; /* for uniqueItems */
	uint32_t unique_capacity;
};

/* Make @context ready to check instances on @tape with @schema. */
void context_begin(
	struct schema_context *context, const struct schema *schema, const struct json_tape *tape);

/* The same for the consequences of a check, in the rest of its time; a stopped check stays
 * stopped. */
void context_follow(
	struct schema_context *context, const struct schema *schema, const struct json_tape *tape);

/* Stop the check. Returns false. */
bool context_stop(struct schema_context *context, enum context_stop stop);

/* Look at the clock; then as context_spend, its caller when a slice is used up. */
bool context_look(struct schema_context *context, uint64_t steps);

/* Take @steps from what is left; false (a stop is noted) when there are not as many, or no time. */
static inline bool context_spend(struct schema_context *context, uint64_t steps)
{
	if (context->steps_left < steps)
		return context_look(context, steps);
	context->steps_left -= steps;
	return true;
}

/* Take the steps for reading the number or string at @index. */
static inline bool context_spend_bytes(struct schema_context *context, uint32_t index)
{
	const struct json_token *token = json_at(context->tape, index);

	if (token->length < BYTES_PER_STEP || token->type > JSON_STRING)
		return true;
	return context_spend(context, token->length / BYTES_PER_STEP);
}

/* A row of @count clear bits on top of the stack, or MARKS_NONE with a stop noted. It is given back
 * by setting context->marks_used to the row. */
uint32_t context_push_marks(struct schema_context *context, uint32_t count);

static inline bool context_is_marked(
	const struct schema_context *context, uint32_t marks, uint32_t at)
{
	return context->marks[marks + at / 64] >> (at % 64) & 1;
}

/* Set the bit @at of the row @marks, unless that is MARKS_NONE. */
static inline void context_mark(struct schema_context *context, uint32_t marks, uint32_t at)
{
	if (marks != MARKS_NONE)
		context->marks[marks + at / 64] |= UINT64_C(1) << (at % 64);
}

/* The dynamic scope: enter the resource of @node (true: leave it later) and leave it again. */
bool context_enter_scope(struct schema_context *context, const struct node *node);
void context_leave_scope(struct schema_context *context);

/* The target of a NODE_DYNAMIC_REF in the present scope. A step is spent for each resource entered;
 * after a stop any node is returned. */
const struct node *context_find_dynamic(
	struct schema_context *context, const struct node_applicator *applicator);

/* The decoded bytes of the string at @index; @ret_size their number. They may be the context's, and
 * live until the next call. NULL without memory, the stop noted. */
const char *context_text(struct schema_context *context, uint32_t index, size_t *ret_size);

/* The place of the string at @index in @set, or KEY_NONE; @guess is tried first. */
uint32_t context_find_key(
	struct schema_context *context, const struct key_set *set, uint32_t index, uint32_t guess);

/* Whether the string @token is @key; not known, and so no, where it needs to be decoded. */
static inline bool context_is_key(
	const struct json_tape *tape, const struct json_token *token, const struct key *key)
{
	return token->length == key->length && !(token->flags & JSON_ESCAPED) &&
	       key_is(key, tape->text, token->offset, tape->size);
}
