/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rewrite.h"
#include "schema/validate.h"

/*
 * Hide the `writeOnly` values (JSON Schema validation, section 9.4): passwords and keys, which a
 * tool needs and no one may read.
 */

/* Return whether values of @node are hidden. `contains` applies to unknown elements, so the whole
 * array is. */
static bool hides(const struct node *node)
{
	return node->is_write_only ||
	       (node->array && node->array->contains && node->array->contains->is_write_only);
}

static bool replace(struct rewrite *rewrite, uint32_t index, struct rewrite_set set)
{
	(void)index;
	for (uint32_t i = 0; i < set.count; i++) {
		if (!hides(rewrite->nodes[set.first + i]))
			continue;
		buffer_append_string(rewrite->out, SCHEMA_MASK);
		rewrite->is_changed = true;
		return true;
	}
	return false;
}

int schema_mask(const struct schema *schema, struct schema_context *context,
	const struct json_tape *tape, uint32_t value, struct buffer *out, bool *ret_is_changed)
{
	struct rewrite rewrite = {.context = context, .out = out, .replace = replace};
	size_t size;
	const char *text = json_value_text(tape, value, &size);
	int r;

	*ret_is_changed = false;
	if (!schema->has_write_only) {
		buffer_append(out, text, size);
		return buffer_status(out);
	}
	context_begin(context, schema, tape);
	rewrite_value(&rewrite, schema->root, value);
	r = rewrite_end(&rewrite);
	if (r == 0)
		*ret_is_changed = rewrite.is_changed;
	return r;
}
