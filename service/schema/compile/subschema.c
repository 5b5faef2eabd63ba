/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/subschema.h"

#include <errno.h>

#include "json/number.h"
#include "regex/pattern.h"
#include "util/array.h"

void *subschema_alloc(const struct subschema *subschema, size_t size)
{
	return arena_alloc(&subschema->compiler->schema->arena, size);
}

int subschema_expect(const struct subschema *subschema, enum keyword keyword, enum json_type type)
{
	uint32_t token = subschema->at[keyword];
	enum json_type came = json_type_at(subschema->tape, token);

	if (came == type)
		return 0;
	return subschema_refuse(subschema, token, "'%s' must be %s %s, not %s",
		keyword_info(keyword)->name, type == JSON_ARRAY || type == JSON_OBJECT ? "an" : "a",
		json_type_name(type), json_type_name(came));
}

int subschema_size(const struct subschema *subschema, enum keyword keyword, uint32_t *ret)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t token = subschema->at[keyword];
	uint64_t value;
	int r = subschema_expect(subschema, keyword, JSON_NUMBER);

	if (r != 0)
		return r;
	r = json_number_u64(tape, token, &value);
	if (r == JSON_E_RANGE && json_number_is_integer(tape, token) &&
		json_bytes(tape, token)[0] != '-') {
		value = NODE_UNBOUNDED;
		r = 0;
	}
	if (r != 0)
		return subschema_refuse(subschema, token,
			"'%s' must be a whole number that is not negative, not %.*s",
			keyword_info(keyword)->name,
			(int)(json_at(tape, token)->length < 40 ? json_at(tape, token)->length
								: 40),
			json_bytes(tape, token));
	*ret = value < NODE_UNBOUNDED ? (uint32_t)value : NODE_UNBOUNDED;
	return 0;
}

int subschema_key(const struct subschema *subschema, uint32_t token, struct key *ret)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *copy;

	json_string_decode(subschema->tape, token, &text);
	if (buffer_status(&text) < 0)
		return buffer_status(&text);
	copy = arena_copy(&subschema->compiler->schema->arena, text.data, text.size);
	if (!copy)
		return -ENOMEM;
	*ret = key_make(copy, (uint32_t)text.size, copy + text.size);
	return 0;
}

/* Remember *where as a pointer to a node, so linking can change it. */
static int add_place(struct compiler *compiler, struct node **where)
{
	if (array_grow(compiler->places, compiler->n_places) < 0)
		return -ENOMEM;
	compiler->places[compiler->n_places++] = where;
	return 0;
}

int compiler_place(struct compiler *compiler, const struct place *place, struct node **where)
{
	struct node *node = place->source->nodes[place->token];

	if (!node) {
		if (compiler->n_nodes >= SCHEMA_SUBSCHEMAS_MAX)
			return schema_refuse(compiler->library.error, place->source, place->token,
				"a schema may hold at most %d subschemas", SCHEMA_SUBSCHEMAS_MAX);
		node = arena_alloc(&compiler->schema->arena, sizeof(*node));
		if (!node)
			return -ENOMEM;
		node->source = place->source;
		node->token = place->token;
		node->resource = place->resource;
		if (compiler->last)
			compiler->last->next = node;
		else
			compiler->schema->nodes = node;
		compiler->last = node;
		compiler->n_nodes++;
		compiler->library.resources[place->resource].is_used = true;
		place->source->nodes[place->token] = node;
	}
	*where = node;
	return add_place(compiler, where);
}

int subschema_child(const struct subschema *subschema, uint32_t token, struct node **where)
{
	struct source *source =
		subschema->compiler->library.resources[subschema->node->resource].source;
	struct place place = {source, token, subschema->node->resource};

	if (source->resources[token] != 0)
		place.resource = source->resources[token] - 1;
	return compiler_place(subschema->compiler, &place, where);
}

int subschema_list(
	const struct subschema *subschema, uint32_t token, struct node ***ret, uint32_t *ret_count)
{
	const struct json_tape *tape = subschema->tape;
	uint32_t count = json_count(tape, token);
	struct node **nodes = subschema_alloc(subschema, count * sizeof(struct node *));
	uint32_t n = 0;

	if (!nodes)
		return -ENOMEM;
	json_each(i, tape, token) {
		int r = subschema_child(subschema, i, &nodes[n++]);

		if (r != 0)
			return r;
	}
	*ret = nodes;
	*ret_count = count;
	return 0;
}

int subschema_pattern(const struct subschema *subschema, uint32_t token, bool can_ignore,
	const struct pattern **ret)
{
	const struct schema_options *options = subschema->compiler->library.options;
	struct schema *schema = subschema->compiler->schema;
	struct owned_pattern *owned = subschema_alloc(subschema, sizeof(*owned));
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};
	int r;

	if (options->is_over && options->is_over(options->data))
		return subschema_refuse(
			subschema, token, "there is no time left to compile this pattern");
	if (can_ignore && options->ignores_patterns)
		return 0;
	json_string_decode(subschema->tape, token, &text);
	if (!owned || buffer_status(&text) < 0)
		return -ENOMEM;
	r = (options->is_brief ? pattern_new_brief : pattern_new)(
		buffer_text(&text), text.size, &owned->pattern, &reason);
	if (r > 0 && options->ignores_patterns)
		r = pattern_new("", 0, &owned->pattern, &reason);
	if (r < 0)
		return r;
	if (r > 0 && can_ignore && options->ignores_mistakes)
		return 0;
	if (r > 0)
		return buffer_terminate(&reason)
			       ? subschema_refuse(subschema, token, "%s", reason.data)
			       : -ENOMEM;
	owned->next = schema->patterns;
	schema->patterns = owned;
	*ret = owned->pattern;
	return 0;
}
