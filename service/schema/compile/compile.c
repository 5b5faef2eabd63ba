/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/compile/sections.h"
#include "util/array.h"

/* Mark the values of the subschema as hidden. */
static void hide_values(struct subschema *subschema)
{
	subschema->node->is_write_only = true;
	subschema->compiler->schema->has_write_only = true;
}

/* Note the place of each keyword with an effect here. */
static void find_keywords(struct subschema *subschema)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t schema = subschema->node->token;

	json_each_key(key, tape, schema) {
		enum keyword keyword = keyword_find(tape, key, &subschema->dialect);

		if (keyword == KEYWORD_NONE)
			continue;
		/* A secret is hidden whatever the vocabularies are, and beside a $ref of
		 * draft-07. */
		if (keyword == KEYWORD_WRITE_ONLY && json_is_true(tape, key + 1))
			hide_values(subschema);
		if (!(keyword_info(keyword)->vocabulary & subschema->dialect.vocabularies))
			continue;
		subschema->at[keyword] = key + 1;
	}
	if (subschema->dialect.draft == DRAFT_07 && subschema->at[KEYWORD_REF] != 0) {
		uint32_t reference = subschema->at[KEYWORD_REF];

		/* Draft-07 core section 8.3: everything beside it is ignored. */
		memset(subschema->at, 0, sizeof(subschema->at));
		subschema->at[KEYWORD_REF] = reference;
	}
}

/* The types whose answer needs more than the mask. */
static unsigned int deep_types(const struct node *node)
{
	unsigned int deep = 0;

	if (node->applicators)
		return node->types;
	for (const struct node_values *values = node->values; values; values = values->next)
		deep |= values->types & (NODE_NUMBER | NODE_STRING | NODE_ARRAY | NODE_OBJECT);
	if (node->number)
		deep |= NODE_NUMBER;
	if (node->string)
		deep |= NODE_STRING;
	if (node->array || node->unevaluated_items)
		deep |= NODE_ARRAY;
	if (node->object || node->unevaluated_properties)
		deep |= NODE_OBJECT;
	return deep & node->types;
}

static int compile_sections(struct subschema *subschema)
{
	static int (*const sections[])(const struct subschema *) = {compile_types, compile_values,
		compile_number, compile_string, compile_array, compile_object, compile_applicators};
	struct node *node = subschema->node;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		int r = sections[i](subschema);

		if (r != 0)
			return r;
	}
	node->deep = (uint8_t)deep_types(node);
	node->is_scoped = node->unevaluated_items || node->unevaluated_properties;
	return 0;
}

static int compile_node(struct compiler *compiler, struct node *node)
{
	const struct json_tape *tape = &node->source->tape;
	struct subschema subschema = {.compiler = compiler, .node = node, .tape = tape};

	node->types = node->declared = NODE_ANY;
	switch (json_type_at(tape, node->token)) {
	case JSON_TRUE:
		return 0;
	case JSON_FALSE:
		node->types = node->declared = 0;
		return 0;
	case JSON_OBJECT:
		break;
	default:
		return schema_refuse(compiler->library.error, node->source, node->token,
			"a schema must be an object or a boolean, not %s",
			json_type_name(json_type_at(tape, node->token)));
	}
	subschema.dialect = compiler->library.resources[node->resource].dialect;
	find_keywords(&subschema);
	return compile_sections(&subschema);
}

/* Let every pointer to a schema of nothing but a `$ref` lead to its target. An alias stays when the
 * dynamic scope is watched, because entering it may matter. */
static void link_aliases(struct compiler *compiler)
{
	for (uint32_t i = 0; i < compiler->n_places; i++) {
		struct node **place = compiler->places[i];
		struct node *node = *place;
		uint32_t hops = 0;

		while (node->is_alias && hops++ < SCHEMA_DEPTH_MAX)
			node = node->applicators->nodes[0];
		if (!node->is_alias)
			*place = node;
	}
}

/* Return the types allowed by @applicator, and the types for which it has to be run. A node named
 * there may not be folded yet; then its mask is only wider than necessary. */
static void fold_applicator(
	const struct node_applicator *applicator, unsigned int *types, unsigned int *deep)
{
	unsigned int once = 0;
	unsigned int twice = 0;
	unsigned int below = 0;

	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		const struct node *node = applicator->nodes[i];

		if (!node)
			continue;
		twice |= once & node->types;
		once |= node->types;
		below |= node->deep;
		if (applicator->kind == NODE_REF || applicator->kind == NODE_ALL_OF)
			*types &= node->types;
	}
	switch (applicator->kind) {
	case NODE_REF:
	case NODE_ALL_OF:
		*deep |= below;
		break;
	case NODE_ANY_OF:
		*types &= once;
		*deep |= below;
		break;
	case NODE_ONE_OF:
		*types &= once;
		*deep |= below | twice;
		break;
	case NODE_DYNAMIC_REF:
	case NODE_NOT:
	case NODE_IF:
		*deep |= NODE_ANY;
		break;
	}
}

/* Whether nothing but names, short ones, decides of an object. */
static bool is_record(const struct node *node)
{
	const struct node_object *object = node->object;

	return object && !node->values && !node->is_scoped && object->n_patterns == 0 &&
	       object->names_steps == 0 && !object->names_node && object->n_dependencies == 0;
}

/* The only branch that takes the types in @deep, if @node is nothing but a choice of branches; or
 * NULL. Masks only get narrower: branches without a common type now never have one later. */
static const struct node *only_branch(const struct node *node, unsigned int deep)
{
	const struct node_applicator *choice = node->applicators;
	const struct node *only = NULL;

	if (choice->next || (choice->kind != NODE_ANY_OF && choice->kind != NODE_ONE_OF) ||
		node->is_scoped || node->values || node->number || node->string || node->array ||
		node->object)
		return NULL;
	for (uint32_t i = 0; i < choice->n_nodes; i++) {
		if (!(choice->nodes[i]->types & deep))
			continue;
		if (only)
			return NULL;
		only = choice->nodes[i];
	}
	return only;
}

static void fold_node(struct node *node)
{
	struct node_applicator *applicators = node->applicators;
	unsigned int types = node->types;
	unsigned int deep;

	if (!applicators) {
		node->leaf = node->deep & (NODE_NUMBER | NODE_STRING);
		if (is_record(node))
			node->leaf |= node->deep & NODE_OBJECT;
		return;
	}
	node->applicators = NULL;
	deep = deep_types(node);
	node->applicators = applicators;
	for (const struct node_applicator *a = applicators; a; a = a->next)
		fold_applicator(a, &types, &deep);
	/* A number's token does not show cheaply whether it is whole: both or none are deep. */
	if (deep & NODE_NUMBER)
		deep |= NODE_NUMBER;
	node->types = (uint8_t)types;
	node->deep = (uint8_t)(deep & types);
	node->only = only_branch(node, node->deep);
}

/* Children are mostly newer than their parents, so folding goes from the newest to the oldest. */
static int link_masks(struct compiler *compiler)
{
	cleanup_free struct node **nodes = calloc(compiler->n_nodes, sizeof(struct node *));
	uint32_t n = 0;

	if (!nodes)
		return -ENOMEM;
	for (struct node *node = compiler->schema->nodes; node; node = node->next) {
		nodes[n++] = node;
		if (compiler->schema->is_dynamic)
			node->is_scoped = true;
	}
	while (n-- > 0)
		fold_node(nodes[n]);
	return 0;
}

int compile_schema(struct compiler *compiler, const struct place *place)
{
	struct node **root = &compiler->schema->root;
	struct node *done = NULL;
	int r = compiler_place(compiler, place, root);

	while (r == 0 && done != compiler->last) {
		while (r == 0 && done != compiler->last) {
			done = done ? done->next : compiler->schema->nodes;
			r = compile_node(compiler, done);
		}
		if (r == 0)
			r = compile_dynamic_anchors(compiler);
	}
	if (r == 0)
		r = link_candidates(compiler);
	if (r != 0)
		return r;
	if (!compiler->schema->is_dynamic)
		link_aliases(compiler);
	return link_masks(compiler);
}
