/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "schema/words/describe.h"
#include "schema/words/explain.h"
#include "util/text/text.h"

/*
 * Objects in the second pass: missing names as one list; unknown names, each with the name probably
 * meant; and the members, in their order.
 */

/* One finding with all missing required names. */
static void explain_missing(
	struct explanation *explanation, const struct node_object *object, uint32_t index)
{
	struct schema_context *context = explanation->context;
	const struct json_tape *tape = context->tape;
	cleanup(buffer_deinit) struct buffer message = {0};
	cleanup(buffer_deinit) struct buffer names = {0};
	uint32_t missing = 0;

	for (uint32_t i = 0; i < object->names.count; i++) {
		const struct node_property *property = &object->properties[i];
		const struct key *key = &object->names.keys[i];

		if (!context_spend(context, 1 + node_count(tape, index)))
			return;
		if (!property->is_required ||
			json_find_sized(tape, index, key->bytes, key->length) != JSON_NONE)
			continue;
		if (++missing > DESCRIBE_LIST_MAX)
			continue;
		buffer_append_string(&names, missing > 1 ? ", " : "");
		describe_name(key->bytes, key->length, &names);
		if (property->node && !describe_takes_all(property->node)) {
			buffer_append_string(&names, " (");
			describe_node(property->node, &names);
			buffer_append_char(&names, ')');
		}
	}
	if (missing == 0)
		return;
	buffer_printf(&message, "missing required propert%s ", missing == 1 ? "y" : "ies");
	buffer_append_buffer(&message, &names);
	buffer_append_string(&message, missing > DESCRIBE_LIST_MAX ? ", …" : "");
	findings_add(&explanation->findings, index, &message);
}

/* The name in @names probably meant by the key at @key, unless the object has it as well. */
static const struct key *find_near_name(
	struct schema_context *context, uint32_t object, const struct key_set *names, uint32_t key)
{
	const struct json_tape *tape = context->tape;
	size_t size;
	cleanup_free char *came = json_string_dup(tape, key, &size);
	const struct key *best = NULL;
	unsigned int best_distance = 0;

	if (!came)
		context_stop(context, STOP_MEMORY);
	for (uint32_t i = 0; came && i < names->count; i++) {
		const struct key *name = &names->keys[i];
		unsigned int distance;

		if (!context_spend(context, NEAR_STEPS))
			return NULL;
		if (!text_is_near(came, size, name->bytes, name->length, &distance) ||
			(best && distance >= best_distance) ||
			json_find_sized(tape, object, name->bytes, name->length) != JSON_NONE)
			continue;
		best = name;
		best_distance = distance;
	}
	return best;
}

void explain_unexpected(struct explanation *explanation, const struct node_object *object,
	uint32_t index, uint32_t key)
{
	const struct json_tape *tape = explanation->context->tape;
	cleanup(buffer_deinit) struct buffer message = {0};
	const struct key *near =
		object ? find_near_name(explanation->context, index, &object->names, key) : NULL;
	cleanup(buffer_deinit) struct buffer name = {0};

	json_string_decode(tape, key, &name);
	buffer_fail_with(&message, &name);
	buffer_append_string(&message, "unexpected property ");
	describe_name(buffer_text(&name), name.size, &message);
	if (near) {
		buffer_append_string(&message, "; did you mean ");
		describe_name(near->bytes, near->length, &message);
		buffer_append_char(&message, '?');
	} else if (object && object->names.count == 0) {
		buffer_append_string(&message, "; the object takes none");
	} else if (object) {
		buffer_append_string(&message, "; the object takes ");
		for (uint32_t i = 0; i < object->names.count && i <= DESCRIBE_LIST_MAX; i++) {
			buffer_append_string(&message, i > 0 ? ", " : "");
			if (i == DESCRIBE_LIST_MAX)
				buffer_append_string(&message, "…");
			else
				describe_name(object->names.keys[i].bytes,
					object->names.keys[i].length, &message);
		}
	}
	findings_add(&explanation->findings, key + 1, &message);
}

/* The member at @key by what does not name it. */
static void explain_unnamed(struct explanation *explanation, const struct node_object *object,
	uint32_t index, uint32_t key, bool is_additional)
{
	for (uint32_t i = 0; i < object->n_patterns; i++) {
		if (!validate_matches(explanation->context, object->patterns[i].pattern, key))
			continue;
		is_additional = false;
		if (object->patterns[i].node->types == 0)
			explain_unexpected(explanation, NULL, index, key);
		else
			explain_node(explanation, object->patterns[i].node, key + 1);
	}
	if (!is_additional || !object->additional)
		return;
	if (object->additional->types == 0)
		explain_unexpected(explanation, object, index, key);
	else
		explain_node(explanation, object->additional, key + 1);
}

/* The name of a member that propertyNames does not take, at the place of the member. */
static void explain_name(struct explanation *explanation, const struct node *node, uint32_t key)
{
	const struct json_tape *tape = explanation->context->tape;
	cleanup(buffer_deinit) struct buffer message = {0};
	cleanup(buffer_deinit) struct buffer name = {0};

	if (validate_accepts(explanation->context, node, key, MARKS_NONE))
		return;
	json_string_decode(tape, key, &name);
	buffer_fail_with(&message, &name);
	buffer_append_string(&message, "the property name ");
	describe_name(buffer_text(&name), name.size, &message);
	buffer_append_string(&message, " must be ");
	describe_node(node, &message);
	findings_add(&explanation->findings, key + 1, &message);
}

static void explain_members(
	struct explanation *explanation, const struct node_object *object, uint32_t index)
{
	const struct json_tape *tape = explanation->context->tape;

	json_each_key_while(
		!explanation->findings.is_full && explanation->context->stop == STOP_NONE, key,
		tape, index) {
		uint32_t place = context_find_key(explanation->context, &object->names, key, 0);
		const struct node *node = place != KEY_NONE ? object->properties[place].node : NULL;

		if (node && node->types == 0)
			explain_unexpected(explanation, NULL, index, key);
		else if (node)
			explain_node(explanation, node, key + 1);
		explain_unnamed(explanation, object, index, key, !node);
		if (object->names_node)
			explain_name(explanation, object->names_node, key);
	}
}

static void explain_dependencies(
	struct explanation *explanation, const struct node_object *object, uint32_t index)
{
	struct schema_context *context = explanation->context;
	const struct json_tape *tape = context->tape;

	for (uint32_t i = 0; i < object->n_dependencies; i++) {
		const struct node_dependency *d = &object->dependencies[i];

		if (!context_spend(context, 1 + node_count(tape, index)))
			return;
		if (json_find_sized(tape, index, d->trigger.bytes, d->trigger.length) == JSON_NONE)
			continue;
		for (uint32_t k = 0; k < d->n_required; k++) {
			const struct key *name = &d->required[k];
			cleanup(buffer_deinit) struct buffer message = {0};

			if (!context_spend(context, 1 + node_count(tape, index)))
				return;
			if (json_find_sized(tape, index, name->bytes, name->length) != JSON_NONE)
				continue;
			buffer_append_string(&message, "missing property ");
			describe_name(name->bytes, name->length, &message);
			buffer_append_string(&message, ", which is required beside ");
			describe_name(d->trigger.bytes, d->trigger.length, &message);
			findings_add(&explanation->findings, index, &message);
		}
		if (d->node)
			explain_node(explanation, d->node, index);
	}
}

void explain_object(
	struct explanation *explanation, const struct node_object *object, uint32_t index)
{
	explain_size(explanation, index, object->members_min, object->members_max, "property",
		"properties");
	explain_missing(explanation, object, index);
	explain_members(explanation, object, index);
	explain_dependencies(explanation, object, index);
}
