/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/compile/reference.h"
#include "schema/compile/sections.h"

/*
 * Keywords that apply other schemas to the same instance: references, combinations, conditions.
 *
 * `$dynamicRef` (core section 8.2.3.2) means one place of many: it names a dynamic anchor, and
 * means the outermost resource on the way with an anchor of this name. Only resources from which
 * something was compiled can be on the way; with one candidate it is an ordinary `$ref`, and only
 * with several the validator has to watch the way.
 */

static struct node_applicator *add_applicator(
	const struct subschema *subschema, enum node_applicator_kind kind, uint32_t n_nodes)
{
	struct node_applicator **end = &subschema->node->applicators;
	struct node_applicator *applicator = subschema_alloc(subschema, sizeof(*applicator));

	if (!applicator)
		return NULL;
	applicator->kind = kind;
	applicator->n_nodes = n_nodes;
	applicator->nodes = subschema_alloc(subschema, n_nodes * sizeof(struct node *));
	if (!applicator->nodes)
		return NULL;
	while (*end)
		end = &(*end)->next;
	*end = applicator;
	return applicator;
}

/* `$ref`, or a `$dynamicRef` as long as nothing is known of its anchor. */
static int add_reference(const struct subschema *subschema, enum keyword keyword)
{
	struct library *library = &subschema->compiler->library;
	const struct node *node = subschema->node;
	struct node_applicator *applicator;
	struct place place;
	uint32_t anchor;
	int r;

	if (subschema->at[keyword] == 0)
		return 0;
	r = subschema_expect(subschema, keyword, JSON_STRING);
	if (r == 0)
		r = reference_resolve(library, node->resource, node->source, subschema->at[keyword],
			&place, &anchor);
	if (r != 0)
		return r;
	applicator = add_applicator(subschema, NODE_REF, 1);
	if (!applicator)
		return -ENOMEM;
	if (keyword == KEYWORD_DYNAMIC_REF && anchor != MAP_NONE &&
		library->anchors[anchor].is_dynamic) {
		applicator->kind = NODE_DYNAMIC_REF;
		applicator->name = library->anchors[anchor].dynamic_name;
		library->names[applicator->name].is_wanted = true;
	}
	return compiler_place(subschema->compiler, &place, &applicator->nodes[0]);
}

static int add_combination(
	const struct subschema *subschema, enum keyword keyword, enum node_applicator_kind kind)
{
	struct node_applicator *applicator;
	int r;

	if (subschema->at[keyword] == 0)
		return 0;
	r = subschema_expect(subschema, keyword, JSON_ARRAY);
	if (r != 0)
		return r;
	applicator = add_applicator(subschema, kind, 0);
	if (!applicator)
		return -ENOMEM;
	return subschema_list(
		subschema, subschema->at[keyword], &applicator->nodes, &applicator->n_nodes);
}

static int add_not(const struct subschema *subschema)
{
	struct node_applicator *applicator;

	if (subschema->at[KEYWORD_NOT] == 0)
		return 0;
	applicator = add_applicator(subschema, NODE_NOT, 1);
	if (!applicator)
		return -ENOMEM;
	return subschema_child(subschema, subschema->at[KEYWORD_NOT], &applicator->nodes[0]);
}

/* `then` and `else` mean nothing without `if`; an `if` alone still marks what it evaluated. */
static int add_condition(const struct subschema *subschema)
{
	static const enum keyword keywords[] = {KEYWORD_IF, KEYWORD_THEN, KEYWORD_ELSE};
	struct node_applicator *applicator;
	int r = 0;

	if (subschema->at[KEYWORD_IF] == 0)
		return 0;
	applicator = add_applicator(subschema, NODE_IF, 3);
	if (!applicator)
		return -ENOMEM;
	for (int i = 0; r == 0 && i < 3; i++) {
		if (subschema->at[keywords[i]] != 0)
			r = subschema_child(
				subschema, subschema->at[keywords[i]], &applicator->nodes[i]);
	}
	return r;
}

/* Nodes are compiled in the order in which they are found: the target of an alias mostly after it.
 */
static int count_alias(const struct subschema *subschema)
{
	const struct node *node = subschema->node;
	struct node *target = node->applicators->nodes[0];

	if (node->aliases == SCHEMA_ALIASES_MAX)
		return subschema_refuse(subschema, subschema->at[KEYWORD_REF],
			"more than %d '$ref' in a row lead to nothing but another '$ref'",
			SCHEMA_ALIASES_MAX);
	if (target->aliases <= node->aliases)
		target->aliases = (uint16_t)(node->aliases + 1);
	return 0;
}

int compile_applicators(const struct subschema *subschema)
{
	struct node *node = subschema->node;
	int r = add_reference(subschema, KEYWORD_REF);

	if (r == 0)
		r = add_reference(subschema, KEYWORD_DYNAMIC_REF);
	if (r == 0)
		r = add_combination(subschema, KEYWORD_ALL_OF, NODE_ALL_OF);
	if (r == 0)
		r = add_condition(subschema);
	if (r == 0)
		r = add_not(subschema);
	if (r == 0)
		r = add_combination(subschema, KEYWORD_ANY_OF, NODE_ANY_OF);
	if (r == 0)
		r = add_combination(subschema, KEYWORD_ONE_OF, NODE_ONE_OF);
	node->is_alias = node->applicators && !node->applicators->next &&
			 node->applicators->kind == NODE_REF && node->types == NODE_ANY &&
			 !node->is_write_only && !node->values && !node->number && !node->string &&
			 !node->array && !node->object && !node->unevaluated_items &&
			 !node->unevaluated_properties;
	return r == 0 && node->is_alias ? count_alias(subschema) : r;
}

int compile_dynamic_anchors(struct compiler *compiler)
{
	struct library *library = &compiler->library;
	int r = 0;

	for (struct dynamic_anchor *d = library->dynamics; r == 0 && d; d = d->next) {
		const struct anchor *anchor = &library->anchors[d->anchor];

		if (!d->node && library->names[anchor->dynamic_name].is_wanted &&
			library->resources[anchor->place.resource].is_used)
			r = compiler_place(compiler, &anchor->place, &d->node);
	}
	return r;
}

static int compare_candidates(const void *a, const void *b)
{
	uint32_t a_resource = ((const struct node_candidate *)a)->resource;
	uint32_t b_resource = ((const struct node_candidate *)b)->resource;

	return (a_resource > b_resource) - (a_resource < b_resource);
}

/* List the candidates of the name at @index. 0 or -ENOMEM. */
static int list_candidates(struct compiler *compiler, uint32_t index)
{
	struct library *library = &compiler->library;
	struct dynamic_name *name = &library->names[index];

	name->candidates = arena_alloc(
		&compiler->schema->arena, library->n_dynamics * sizeof(*name->candidates));
	if (!name->candidates)
		return -ENOMEM;
	for (const struct dynamic_anchor *d = library->dynamics; d; d = d->next) {
		const struct anchor *anchor = &library->anchors[d->anchor];

		if (d->node && anchor->dynamic_name == index)
			name->candidates[name->n_candidates++] =
				(struct node_candidate){anchor->place.resource, d->node};
	}
	qsort(name->candidates, name->n_candidates, sizeof(*name->candidates), compare_candidates);
	if (name->n_candidates > 1)
		compiler->schema->is_dynamic = true;
	return 0;
}

int link_candidates(struct compiler *compiler)
{
	for (struct node *node = compiler->schema->nodes; node; node = node->next) {
		for (struct node_applicator *a = node->applicators; a; a = a->next) {
			const struct dynamic_name *name;

			if (a->kind != NODE_DYNAMIC_REF)
				continue;
			name = &compiler->library.names[a->name];
			if (!name->candidates && list_candidates(compiler, a->name) < 0)
				return -ENOMEM;
			a->candidates = name->candidates;
			a->n_candidates = name->n_candidates;
		}
	}
	return 0;
}
