/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rewrite.h"
#include "schema/validate.h"

/*
 * Hide the `writeOnly` values (JSON Schema validation, section 9.4): passwords and keys, which a
 * tool needs and no one may read. Branches apply when they hold, as for any annotation.
 */
struct mask {
	struct rewrite rewrite; /* first, so the other two follow */
	bool is_changed;
};

static bool mask_applies(struct rewrite *rewrite, const struct node_applicator *applicator,
	const struct node *node, uint32_t index)
{
	(void)applicator;
	return validate_accepts(rewrite->context, node, index, MARKS_NONE);
}

/* Return whether values of @node are hidden. `contains` applies to unknown elements, so the whole
 * array is. */
static bool hides(const struct node *node)
{
	return node->is_write_only ||
	       (node->array && node->array->contains && node->array->contains->is_write_only);
}

static bool replace(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	struct mask *mask = (struct mask *)rewrite;

	(void)index;
	for (uint32_t i = 0; i < set.count; i++) {
		if (!hides(rewrite->nodes[set.first + i]))
			continue;
		buffer_append_string(rewrite->out, SCHEMA_MASK);
		mask->is_changed = true;
		return true;
	}
	return false;
}

int schema_mask(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed)
{
	struct mask mask = {.rewrite = {.context = context,
				    .out = out,
				    .applies = mask_applies,
				    .replace = replace}};
	size_t size;
	const char *text = json_value_text(tape, value, &size);
	int r;

	*ret_is_changed = false;
	if (!schema->has_write_only) {
		buffer_append(out, text, size);
		return buffer_status(out);
	}
	context_begin(context, schema, tape);
	rewrite_value(&mask.rewrite, schema->root, value);
	r = rewrite_end(&mask.rewrite);
	if (r == 0)
		*ret_is_changed = mask.is_changed;
	return r;
}
