/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "schema/words/describe.h"
#include "schema/words/explain.h"

/*
 * Explain anyOf and oneOf when no branch holds: find the intended branch.
 *
 *   no branch takes the actual type           all alternatives are listed
 *   one does                                  this branch is explained ("or null" is added
 *                                             where null would have done)
 *   several objects with different tags       the object with the actual tag; else the tags
 *   several otherwise                         all alternatives are listed
 *
 * A tag is a property that is a constant (or an enum) in every branch.
 */

static const struct node *find_property(const struct node *node, const struct key *name)
{
	uint32_t place;

	node = describe_target(node);
	if (!node->object)
		return NULL;
	place = key_set_find(&node->object->names, name, 0);
	return place == KEY_NONE ? NULL : node->object->properties[place].node;
}

/* The branches for the type of the value at @index. */
struct branches {
	const struct node *nodes[DESCRIBE_LIST_MAX];
	uint32_t count;
	bool is_cut; /* there are more than are looked at */
	bool has_null;
};

static struct branches find_branches(
	const struct json_tape *tape, const struct node_applicator *applicator, uint32_t index)
{
	struct branches branches = {0};

	for (uint32_t i = 0; i < applicator->n_nodes; i++) {
		const struct node *node = applicator->nodes[i];

		branches.has_null |= node->types == NODE_NULL;
		if (!(node->types & node_type_of(tape, index, node->types)))
			continue;
		if (branches.count == DESCRIBE_LIST_MAX)
			branches.is_cut = true;
		else
			branches.nodes[branches.count++] = node;
	}
	return branches;
}

/* A property with fixed values in every branch, or NULL. */
static const struct key *find_tag(const struct branches *branches)
{
	const struct node *first = describe_target(branches->nodes[0]);

	for (uint32_t i = 0; first->object && i < first->object->names.count; i++) {
		const struct key *name = &first->object->names.keys[i];
		uint32_t fixing = 0;

		for (uint32_t k = 0; k < branches->count; k++) {
			const struct node *node = find_property(branches->nodes[k], name);

			fixing += node && node->values;
		}
		if (fixing == branches->count)
			return name;
	}
	return NULL;
}

/* "must be one of …": the tags of all branches. @index is the actual tag, or the object without a
 * tag. */
static void explain_tag(struct explanation *explanation, const struct branches *branches,
	const struct key *tag, uint32_t index, bool is_missing)
{
	cleanup(buffer_deinit) struct buffer message = {0};

	if (is_missing) {
		buffer_append_string(&message, "missing property ");
		describe_name(tag->bytes, tag->length, &message);
		buffer_append_string(&message, ", which must be ");
	} else {
		buffer_append_string(&message, "must be ");
	}
	for (uint32_t i = 0; i < branches->count; i++) {
		const struct node *node = find_property(branches->nodes[i], tag);

		buffer_append_string(&message, i > 0 ? " or " : "");
		describe_values(node, node->values, &message);
	}
	if (!is_missing) {
		buffer_append_string(&message, ", not ");
		describe_value(explanation->context->tape, index, &message);
	}
	findings_add(&explanation->findings, index, &message);
}

/* Explain objects with a distinguishing tag. Return false without a tag. */
static bool explain_tagged(
	struct explanation *explanation, const struct branches *branches, uint32_t index)
{
	struct schema_context *context = explanation->context;
	const struct key *tag;
	uint32_t value;

	if (branches->is_cut || json_type_at(context->tape, index) != JSON_OBJECT)
		return false;
	tag = find_tag(branches);
	if (!tag)
		return false;
	value = json_find_sized(context->tape, index, tag->bytes, tag->length);
	if (value == JSON_NONE) {
		explain_tag(explanation, branches, tag, index, true);
		return true;
	}
	for (uint32_t i = 0; i < branches->count; i++) {
		const struct node *node = find_property(branches->nodes[i], tag);

		if (validate_accepts(context, node, value, MARKS_NONE)) {
			explain_node(explanation, branches->nodes[i], index);
			return true;
		}
	}
	explain_tag(explanation, branches, tag, value, false);
	return true;
}

void explain_union(struct explanation *explanation, const struct node *node,
	const struct node_applicator *applicator, uint32_t index)
{
	struct branches branches = find_branches(explanation->context->tape, applicator, index);
	cleanup(buffer_deinit) struct buffer wanted = {0};

	if (branches.count == 1) {
		uint32_t or_null = explanation->or_null;

		if (branches.has_null)
			explanation->or_null = index;
		explain_node(explanation, branches.nodes[0], index);
		explanation->or_null = or_null;
		return;
	}
	if (branches.count > 1 && explain_tagged(explanation, &branches, index))
		return;
	describe_alternatives(applicator, &wanted);
	explain_wanted(explanation, node, &wanted, index);
}
