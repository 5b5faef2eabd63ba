/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/validate.h"

#include <errno.h>

#include "json/number.h"
#include "schema/equal.h"

/*
 * The first pass: yes or no, as fast as possible; it reports nothing and builds nothing. The second
 * pass, explain.c, finds the violations, and only after a no.
 *
 *   accepts ── type not in node->types ──▶ no
 *      │ ───── type not in node->deep ───▶ yes, without a call
 *      │ ───── type in node->leaf ──┬────▶ its section: values, bounds, lengths, pattern
 *      ▼                            └────▶ record: an object of which only names decide
 *   check ──▶ values ──▶ the section of the actual type ──▶ applicators
 *
 * Only records and check_node() count depth: a value decided before them has no children to visit.
 */

/* Inlining makes every call of the walk more expensive, so the rare paths are kept out of it. */
#define OUT_OF_LINE __attribute__((noinline))

static bool check_node(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks);
static bool check_leaf(struct schema_context *context, const struct node *node, uint32_t index);
static bool check_record(
	struct schema_context *context, const struct node_object *object, uint32_t index);

/* The type bit of a token by its type. */
static const uint8_t type_bits[16] = {
	[JSON_NULL] = NODE_NULL,
	[JSON_FALSE] = NODE_FALSE,
	[JSON_TRUE] = NODE_TRUE,
	[JSON_NUMBER] = NODE_INTEGER,
	[JSON_STRING] = NODE_STRING,
	[JSON_ARRAY] = NODE_ARRAY,
	[JSON_OBJECT] = NODE_OBJECT,
};

/* The number at @index, written with a fraction or an exponent, for a node without fractions. */
OUT_OF_LINE static bool accepts_whole(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	if (!(node->types & NODE_INTEGER) || !json_number_is_integer(context->tape, index))
		return false;
	context->has_spelled = true;
	if (!(node->deep & NODE_INTEGER))
		return true;
	return node->leaf & NODE_INTEGER ? check_leaf(context, node, index)
					 : check_node(context, node, index, marks);
}

/* @token is the one at @index. */
static inline bool accepts_token(struct schema_context *context, const struct node *node,
	uint32_t index, const struct json_token *token, uint32_t marks)
{
	unsigned int type = type_bits[token->type];

	if (token->flags & JSON_FRACTION)
		type = NODE_FRACTION;
	if (!(node->deep & type)) {
		if (node->types & type)
			return true;
		return type == NODE_FRACTION && accepts_whole(context, node, index, marks);
	}
	if (!(node->leaf & type) || (type == NODE_OBJECT && marks != MARKS_NONE))
		return check_node(context, node, index, marks);
	return type == NODE_OBJECT ? check_record(context, node->object, index)
				   : check_leaf(context, node, index);
}

static inline bool accepts(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	return accepts_token(context, node, index, json_at(context->tape, index), marks);
}

static void mark_from(struct schema_context *context, uint32_t marks, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; marks != MARKS_NONE && at < to; at++)
		context_mark(context, marks, at);
}

/* accepts() with marks of its own, kept only if the schema holds. */
OUT_OF_LINE static bool accepts_branch(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	uint32_t count;
	uint32_t row;
	bool holds;

	if (marks == MARKS_NONE)
		return accepts(context, node, index, MARKS_NONE);
	count = node_count(context->tape, index);
	row = context_push_marks(context, count);
	if (row == MARKS_NONE)
		return false;
	holds = accepts(context, node, index, row);
	for (uint32_t i = 0; holds && i <= count / 64; i++)
		context->marks[marks + i] |= context->marks[row + i];
	context->marks_used = row;
	return holds;
}

/* context_find_key, where the guess is right nearly always. */
static inline uint32_t find_key(
	struct schema_context *context, const struct key_set *set, uint32_t index, uint32_t guess)
{
	if (guess < set->count &&
		context_is_key(context->tape, json_at(context->tape, index), &set->keys[guess]))
		return guess;
	return context_find_key(context, set, index, guess);
}

OUT_OF_LINE static bool check_contains(struct schema_context *context,
	const struct node_array *array, uint32_t index, uint32_t marks)
{
	const struct json_tape *tape = context->tape;
	uint32_t matched = 0;
	uint32_t at = 0;

	if (!array->contains_marks)
		marks = MARKS_NONE;
	for (uint32_t i = json_first(tape, index); i < json_end(tape, index);
		i = json_next(tape, i), at++) {
		if (!accepts(context, array->contains, i, MARKS_NONE)) {
			if (context->stop != STOP_NONE)
				return false;
			continue;
		}
		context_mark(context, marks, at);
		if (++matched > array->contains_max)
			return false;
		if (marks == MARKS_NONE && matched >= array->contains_min &&
			array->contains_max == NODE_UNBOUNDED)
			return true;
	}
	return matched >= array->contains_min;
}

OUT_OF_LINE static bool check_array(struct schema_context *context, const struct node_array *array,
	uint32_t index, uint32_t marks)
{
	const struct json_tape *tape = context->tape;
	uint32_t end = json_end(tape, index);
	uint32_t count = node_count(tape, index);
	uint32_t i = json_first(tape, index);
	struct equal_pair pair;

	if (count < array->items_min || count > array->items_max || !context_spend(context, count))
		return false;
	for (uint32_t at = 0; at < array->n_prefix && i < end; at++, i = json_next(tape, i)) {
		if (!accepts(context, array->prefix[at], i, MARKS_NONE))
			return false;
		context_mark(context, marks, at);
	}
	if (array->items) {
		for (; i < end; i = json_next(tape, i)) {
			if (!accepts(context, array->items, i, MARKS_NONE))
				return false;
		}
		mark_from(context, marks, array->n_prefix, count);
	}
	if (array->contains && !check_contains(context, array, index, marks))
		return false;
	if (!array->is_unique)
		return true;
	return !equal_elements(context, index, &pair) && context->stop == STOP_NONE;
}

/* The member at @key, the @at'th, by what does not name it: patternProperties, or else
 * additionalProperties if @is_additional. */
static bool check_unnamed(struct schema_context *context, const struct node_object *object,
	uint32_t key, uint32_t at, uint32_t marks, bool is_additional)
{
	for (uint32_t i = 0; i < object->n_patterns; i++) {
		if (!validate_matches(context, object->patterns[i].pattern, key)) {
			if (context->stop != STOP_NONE)
				return false;
			continue;
		}
		if (!accepts(context, object->patterns[i].node, key + 1, MARKS_NONE))
			return false;
		context_mark(context, marks, at);
		is_additional = false;
	}
	if (!is_additional || !object->additional)
		return true;
	context_mark(context, marks, at);
	return accepts(context, object->additional, key + 1, MARKS_NONE);
}

/* Take @steps into a value; false (a stop is noted) if there are too many, or the value is too
 * deep. */
static inline bool enter(struct schema_context *context, uint64_t steps)
{
	if (!context_spend(context, steps))
		return false;
	if (context->depth == RECURSION_MAX)
		return context_stop(context, STOP_DEPTH);
	context->depth++;
	return true;
}

/* Return the property named by the key at @key, which is not @expected, or NULL. More often than
 * the order differs, a single member is left out: then the next one is found without a hash. */
OUT_OF_LINE static const struct node_property *find_property(struct schema_context *context,
	const struct node_object *object, const struct node_property *expected, uint32_t key)
{
	uint32_t at;

	if (expected->key.length != KEY_NEVER &&
		context_is_key(context->tape, &context->tape->tokens[key], &expected[1].key))
		return expected + 1;
	at = context_find_key(context, &object->names, key, KEY_NONE);
	return at != KEY_NONE ? &object->properties[at] : NULL;
}

/* Return whether the object at @index has no member @key. */
static inline bool lacks(const struct json_tape *tape, uint32_t index, const struct key *key)
{
	const struct json_token *tokens = tape->tokens;
	uint32_t end = tokens[index].next;

	for (uint32_t i = index + 1; i < end; i = tokens[i + 1].next)
		if (context_is_key(tape, &tokens[i], key) ||
			((tokens[i].flags & JSON_ESCAPED) &&
				json_string_equals(tape, i, key->bytes, key->length)))
			return false;
	return true;
}

/* Whether the object at @index lacks the first required property from @expected up to @came, found
 * in its stead. *@is_ordered: no skipped name came elsewhere. */
OUT_OF_LINE static bool lacks_skipped(const struct json_tape *tape, uint32_t index,
	const struct node_property *expected, const struct node_property *came, bool *is_ordered)
{
	for (; *is_ordered && expected < came; expected++) {
		const struct key *key = &expected->key;

		if (!expected->is_required)
			continue;
		*is_ordered = false;
		return lacks(tape, index, key);
	}
	return false;
}

/* The walk over the members where names alone decide: `properties`, `required` and
 * `additionalProperties`, nothing marked. Members mostly come in the order of the table, so a
 * skipped required member is most likely missing: it is searched for before any later value is
 * checked. This search is made once; an object in another order is then walked in its own order. */
static bool check_named(
	struct schema_context *context, const struct node_object *object, uint32_t index)
{
	const struct json_tape *tape = context->tape;
	const struct json_token *tokens = tape->tokens;
	const struct node_property *expected = object->properties;
	uint32_t missing = object->n_required;
	uint32_t end = tokens[index].next;
	bool is_ordered = true;

	for (uint32_t key = index + 1; key < end; key = tokens[key + 1].next) {
		const struct node *node = object->additional;
		const struct node_property *property = expected;

		if (!context_is_key(tape, &tokens[key], &expected->key)) {
			property = find_property(context, object, expected, key);
			if (property && lacks_skipped(tape, index, expected, property, &is_ordered))
				return false;
		}
		if (property) {
			expected = property + 1;
			missing -= property->is_required;
			node = property->node ? property->node : node;
		}
		if (node && !accepts_token(context, node, key + 1, &tokens[key + 1], MARKS_NONE))
			return false;
	}
	return missing == 0;
}

/* Whether an object of @count members has as many as it may and has to have. Keys differ: fewer
 * members than required names cannot hold them all. */
static inline bool check_size(const struct node_object *object, uint32_t count)
{
	return count >= object->members_min && count <= object->members_max &&
	       count >= object->n_required;
}

static bool check_record(
	struct schema_context *context, const struct node_object *object, uint32_t index)
{
	uint32_t count = node_count(context->tape, index);
	bool holds;

	if (!check_size(object, count) || !enter(context, 1 + (uint64_t)count))
		return false;
	holds = check_named(context, object, index);
	context->depth--;
	return holds;
}

/* The walk over the members with all keywords. */
OUT_OF_LINE static bool check_members(struct schema_context *context,
	const struct node_object *object, uint32_t index, uint32_t marks)
{
	const struct json_tape *tape = context->tape;
	uint32_t end = json_end(tape, index);
	uint32_t missing = object->n_required;
	uint32_t guess = 0;
	uint32_t at = 0;

	for (uint32_t key = json_first(tape, index); key < end;
		key = json_next_key(tape, key), at++) {
		uint32_t place = find_key(context, &object->names, key, guess);
		const struct node *node = NULL;

		if (place != KEY_NONE) {
			const struct node_property *property = &object->properties[place];

			guess = place + 1;
			missing -= property->is_required;
			node = property->node;
		}
		if (node) {
			if (!accepts(context, node, key + 1, MARKS_NONE))
				return false;
			context_mark(context, marks, at);
		}
		if (!check_unnamed(context, object, key, at, marks, !node))
			return false;
		if (object->names_node && !accepts(context, object->names_node, key, MARKS_NONE))
			return false;
	}
	return missing == 0;
}

OUT_OF_LINE static bool check_dependencies(struct schema_context *context,
	const struct node_object *object, uint32_t index, uint32_t marks)
{
	const struct json_tape *tape = context->tape;

	for (uint32_t i = 0; i < object->n_dependencies; i++) {
		const struct node_dependency *d = &object->dependencies[i];

		if (!context_spend(context, node_count(tape, index)))
			return false;
		if (json_find_sized(tape, index, d->trigger.bytes, d->trigger.length) == JSON_NONE)
			continue;
		for (uint32_t k = 0; k < d->n_required; k++) {
			const struct key *name = &d->required[k];

			if (!context_spend(context, node_count(tape, index)) ||
				json_find_sized(tape, index, name->bytes, name->length) ==
					JSON_NONE)
				return false;
		}
		if (d->node && !accepts(context, d->node, index, marks))
			return false;
	}
	return true;
}

static bool check_object(struct schema_context *context, const struct node_object *object,
	uint32_t index, uint32_t marks)
{
	uint32_t count = node_count(context->tape, index);

	if (!check_size(object, count) ||
		!context_spend(context, (uint64_t)count + object->names_steps))
		return false;
	if (marks == MARKS_NONE && object->n_patterns == 0 && !object->names_node) {
		if (!check_named(context, object, index))
			return false;
	} else if (!check_members(context, object, index, marks)) {
		return false;
	}
	return object->n_dependencies == 0 || check_dependencies(context, object, index, marks);
}

static bool check_any_of(struct schema_context *context, const struct node_applicator *applicator,
	uint32_t index, uint32_t marks)
{
	bool holds = false;

	for (uint32_t i = 0; i < applicator->n_nodes && context->stop == STOP_NONE; i++) {
		if (accepts_branch(context, applicator->nodes[i], index, marks)) {
			holds = true;
			if (marks == MARKS_NONE)
				break;
		}
	}
	return holds;
}

static bool check_one_of(struct schema_context *context, const struct node_applicator *applicator,
	uint32_t index, uint32_t marks)
{
	uint32_t holding = 0;

	for (uint32_t i = 0; i < applicator->n_nodes && holding < 2; i++) {
		holding += accepts_branch(context, applicator->nodes[i], index, marks);
		if (context->stop != STOP_NONE)
			return false;
	}
	return holding == 1;
}

static bool check_condition(struct schema_context *context,
	const struct node_applicator *applicator, uint32_t index, uint32_t marks)
{
	bool holds = accepts_branch(context, applicator->nodes[0], index, marks);
	const struct node *node = applicator->nodes[holds ? 1 : 2];

	if (context->stop != STOP_NONE)
		return false;
	return !node || accepts(context, node, index, marks);
}

static bool check_applicator(struct schema_context *context,
	const struct node_applicator *applicator, uint32_t index, uint32_t marks)
{
	switch (applicator->kind) {
	case NODE_REF:
		return accepts(context, applicator->nodes[0], index, marks);
	case NODE_DYNAMIC_REF:
		return accepts(context, context_find_dynamic(context, applicator), index, marks) &&
		       context->stop == STOP_NONE;
	case NODE_ALL_OF:
		for (uint32_t i = 0; i < applicator->n_nodes; i++) {
			if (!accepts(context, applicator->nodes[i], index, marks))
				return false;
		}
		return true;
	case NODE_ANY_OF:
		return check_any_of(context, applicator, index, marks);
	case NODE_ONE_OF:
		return check_one_of(context, applicator, index, marks);
	case NODE_NOT:
		return !accepts(context, applicator->nodes[0], index, MARKS_NONE) &&
		       context->stop == STOP_NONE;
	case NODE_IF:
		return check_condition(context, applicator, index, marks);
	}
	return false;
}

OUT_OF_LINE static bool check_applicators(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	for (const struct node_applicator *a = node->applicators; a; a = a->next) {
		if (!context_spend(context, a->n_nodes) ||
			!check_applicator(context, a, index, marks))
			return false;
	}
	return true;
}

static inline bool check_scalar(
	struct schema_context *context, const struct node *node, uint32_t index)
{
	if (json_type_at(context->tape, index) == JSON_NUMBER)
		return !node->number || validate_number(context, node->number, index);
	return !node->string || validate_string(context, node->string, index);
}

OUT_OF_LINE static bool check_enumerated(
	struct schema_context *context, const struct node *node, uint32_t index)
{
	return validate_has_values(context, node, index) && check_scalar(context, node, index);
}

static bool check_leaf(struct schema_context *context, const struct node *node, uint32_t index)
{
	return node->values ? check_enumerated(context, node, index)
			    : check_scalar(context, node, index);
}

static inline bool check_sections(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	if (node->values && !validate_has_values(context, node, index))
		return false;
	switch (json_type_at(context->tape, index)) {
	case JSON_NUMBER:
		if (node->number && !validate_number(context, node->number, index))
			return false;
		break;
	case JSON_STRING:
		if (node->string && !validate_string(context, node->string, index))
			return false;
		break;
	case JSON_ARRAY:
		if (node->array && !check_array(context, node->array, index, marks))
			return false;
		break;
	case JSON_OBJECT:
		if (node->object && !check_object(context, node->object, index, marks))
			return false;
		break;
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
		break;
	}
	return !node->applicators || check_applicators(context, node, index, marks);
}

/* ── what was evaluated, and the dynamic scope: the slow entry
 * ───────────────────────────────────── */

/* Let @node have what is not marked in @row, and mark it. */
static bool check_rest(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t row)
{
	const struct json_tape *tape = context->tape;
	bool is_object = json_type_at(tape, index) == JSON_OBJECT;
	uint32_t at = 0;

	for (uint32_t i = json_first(tape, index); i < json_end(tape, index); at++) {
		uint32_t value = is_object ? i + 1 : i;

		if (!context_is_marked(context, row, at) &&
			!accepts(context, node, value, MARKS_NONE))
			return false;
		context_mark(context, row, at);
		i = json_next(tape, value);
	}
	return true;
}

/* The node for the rest of the value at @index, or NULL. */
static const struct node *unevaluated_node(
	const struct schema_context *context, const struct node *node, uint32_t index)
{
	switch (json_type_at(context->tape, index)) {
	case JSON_ARRAY:
		return node->unevaluated_items;
	case JSON_OBJECT:
		return node->unevaluated_properties;
	default:
		return NULL;
	}
}

/* A node with unevaluated*: with a row of its own, added to @marks if the node holds. */
static bool check_evaluated(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	const struct node *rest = unevaluated_node(context, node, index);
	uint32_t count;
	uint32_t row;
	bool holds;

	if (!rest)
		return check_sections(context, node, index, marks);
	count = node_count(context->tape, index);
	row = context_push_marks(context, count);
	if (row == MARKS_NONE)
		return false;
	holds = check_sections(context, node, index, row) && check_rest(context, rest, index, row);
	for (uint32_t i = 0; holds && marks != MARKS_NONE && i <= count / 64; i++)
		context->marks[marks + i] |= context->marks[row + i];
	context->marks_used = row;
	return holds;
}

OUT_OF_LINE static bool check_scoped(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	bool is_entered = context_enter_scope(context, node);
	bool holds = check_evaluated(context, node, index, marks);

	if (is_entered)
		context_leave_scope(context);
	return holds;
}

/* ── the entries ─────────────────────────────────────────────────────────────────────────────── */

static bool check_node(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	bool holds;

	if (!enter(context, 1))
		return false;
	if (node->only)
		holds = accepts(context, node->only, index, marks);
	else if (node->is_scoped)
		holds = check_scoped(context, node, index, marks);
	else
		holds = check_sections(context, node, index, marks);
	context->depth--;
	return holds;
}

bool validate_accepts(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	return accepts(context, node, index, marks);
}

bool validate_accepts_evaluated(
	struct schema_context *context, const struct node *node, uint32_t index, uint32_t marks)
{
	return check_sections(context, node, index, marks);
}

bool validate_accepts_alone(struct schema_context *context, const struct node *node, uint32_t index)
{
	return check_leaf(context, node, index);
}

/* Return the outcome of the pass under way. */
static int finish_pass(struct schema_context *context, const struct schema *schema, uint32_t value)
{
	bool holds =
		context->stop == STOP_NONE && accepts(context, schema->root, value, MARKS_NONE);

	if (context->stop == STOP_MEMORY)
		return -ENOMEM;
	if (context->stop != STOP_NONE)
		return SCHEMA_E_UNCHECKED;
	return holds ? 0 : SCHEMA_E_INVALID;
}

int schema_validate(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value)
{
	context_begin(context, schema, tape);
	return finish_pass(context, schema, value);
}

int schema_validate_again(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value)
{
	context_follow(context, schema, tape);
	return finish_pass(context, schema, value);
}
