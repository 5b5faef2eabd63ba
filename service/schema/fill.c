/* SPDX-License-Identifier: Apache-2.0 */
#include "json/writer.h"
#include "schema/rewrite.h"
#include "schema/source.h"
#include "schema/validate.h"

/*
 * Fill in defaults: the absent properties with a default are appended after the last member of an
 * object. Branches apply when they hold. When two schemas have a default for one property, the
 * first is used. A schema whose mistakes are ignored may have wrong defaults: these are left out.
 *
 * Write integers as their digits: 2.0 and 1e1 are integers to a schema, and to few programs.
 */

/* Return whether the property at @place of @owner has a default to fill in. */
static bool is_usable(const struct rewrite *rewrite, const struct node *owner, uint32_t place)
{
	struct schema_context *context = rewrite->context;
	const struct node_property *property = &owner->object->properties[place];
	const struct json_tape *tape = context->tape;
	bool is_accepted;

	if (property->default_token == 0 || !context->schema->doubts_defaults)
		return property->default_token != 0;
	context->tape = &owner->source->tape;
	is_accepted =
		validate_accepts(context, property->node, property->default_token, MARKS_NONE);
	context->tape = tape;
	return is_accepted;
}

/* Whether one of the first @count nodes of @set has a default for the property called @key. */
static bool has_default(const struct rewrite *rewrite, struct rewrite_set set, uint32_t count,
	const struct key *key)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct node_object *object = rewrite->nodes[set.first + i]->object;
		uint32_t place = object ? key_set_find(&object->names, key, 0) : KEY_NONE;

		if (place != KEY_NONE && is_usable(rewrite, rewrite->nodes[set.first + i], place))
			return true;
	}
	return false;
}

/* Write one default, itself filled in. */
static void write_default(struct rewrite *rewrite, const struct node *owner, uint32_t place)
{
	struct schema_context *context = rewrite->context;
	const struct node_property *property = &owner->object->properties[place];
	const struct key *key = &owner->object->names.keys[place];
	const struct json_tape *tape = context->tape;
	size_t size;

	json_value_text(&owner->source->tape, property->default_token, &size);
	if (!context_spend(context, size / BYTES_PER_STEP))
		return;
	json_write_string(rewrite->out, key->bytes, key->length);
	buffer_append_char(rewrite->out, ':');
	context->tape = &owner->source->tape;
	rewrite_value(rewrite, property->node, property->default_token);
	context->tape = tape;
}

/* Write the defaults of what the object at @index lacks. */
static void write_defaults(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	const struct json_tape *tape = rewrite->context->tape;
	bool is_empty = json_count(tape, index) == 0;

	for (uint32_t i = 0; i < set.count; i++) {
		const struct node *node = rewrite->nodes[set.first + i];

		for (uint32_t k = 0; node->object && k < node->object->names.count; k++) {
			const struct key *key = &node->object->names.keys[k];

			if (node->object->properties[k].default_token == 0)
				continue;
			if (!context_spend(rewrite->context, 1 + node_count(tape, index) + i))
				return;
			if (json_find_sized(tape, index, key->bytes, key->length) != JSON_NONE ||
				has_default(rewrite, set, i, key) || !is_usable(rewrite, node, k))
				continue;
			if (!is_empty)
				buffer_append_char(rewrite->out, ',');
			write_default(rewrite, node, k);
			is_empty = false;
			rewrite->is_changed = true;
		}
	}
}

/* Write the number at @index as its digits if no schema in @set takes a fraction. */
static bool write_integer(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	const struct json_tape *tape = rewrite->context->tape;
	unsigned int types = set.count > 0 ? NODE_ANY : NODE_FRACTION;

	if (!(json_at(tape, index)->flags & JSON_FRACTION) ||
		json_type_at(tape, index) != JSON_NUMBER)
		return false;
	for (uint32_t i = 0; i < set.count; i++)
		types &= rewrite->nodes[set.first + i]->types;
	if (types & NODE_FRACTION || !json_number_write_digits(tape, index, rewrite->out))
		return false;
	rewrite->is_changed = true;
	return true;
}

int schema_fill(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed)
{
	struct rewrite rewrite = {.context = context,
		.out = out,
		.replace = write_integer,
		.complete = write_defaults};
	size_t size;
	const char *text = json_value_text(tape, value, &size);
	int r;

	if (ret_is_changed)
		*ret_is_changed = false;
	if (!schema_fills(schema, context)) {
		buffer_append(out, text, size);
		return buffer_status(out);
	}
	context_follow(context, schema, tape);
	rewrite_value(&rewrite, schema->root, value);
	r = rewrite_end(&rewrite);
	if (r == 0 && ret_is_changed)
		*ret_is_changed = rewrite.is_changed;
	return r;
}
