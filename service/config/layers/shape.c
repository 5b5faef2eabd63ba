/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/shape.h"

#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "util/assert.h"

static const char *const effects[] = {
	[CONFIG_CLOSES] = "closes",
	[CONFIG_NOT_USED] = "not used",
	[CONFIG_WARNING] = "warning",
	[CONFIG_NO_START] = "no start",
	NULL,
};

int config_shape_open(struct config_shape *shape, const char *schema)
{
	if (shape->context)
		return 0;
	shape->context = schema_context_new();
	if (!shape->context)
		return -ENOMEM;
	/* A check looks at each value a few times: a long one just takes its time. */
	schema_context_limit_time(shape->context, 0);
	return json_tape_read(&shape->tape, schema, strlen(schema), JSON_DEPTH_DEFAULT, NULL);
}

void config_shape_deinit(struct config_shape *shape)
{
	json_tape_deinit(&shape->tape);
	schema_free(shape->schema);
	schema_context_free(shape->context);
	*shape = (struct config_shape){0};
}

/* ── places ──────────────────────────────────────────────────────────────────────────────────── */

/* Go on to the schema at @node. */
static void enter_schema(
	const struct config_shape *shape, struct config_place *place, uint32_t node)
{
	uint32_t word = json_find_typed(&shape->tape, node, "x-mistake", JSON_STRING);
	int effect = json_word_at(&shape->tape, word, effects);

	place->node = node;
	if (effect >= 0)
		place->effect = (enum config_effect)effect;
}

/* Return the schema of the property whose name is at @key of @tape, or JSON_NONE. */
static uint32_t find_property_schema(
	const struct config_shape *shape, uint32_t node, const struct json_tape *tape, uint32_t key)
{
	uint32_t properties = json_find(&shape->tape, node, "properties");

	json_each_key_found(name, &shape->tape, properties)
		if (json_strings_equal(&shape->tape, name, tape, key))
			return name + 1;
	return JSON_NONE;
}

struct config_place config_shape_step(const struct config_shape *shape,
	const struct config_place *place, const struct json_tape *tape, uint32_t key)
{
	struct config_place next = *place;
	uint32_t node = find_property_schema(shape, place->node, tape, key);

	if (node == JSON_NONE)
		node = json_find(&shape->tape, place->node, "additionalProperties");
	next.is_foreign = node == JSON_NONE;
	next.is_unknown = node != JSON_NONE && json_type_at(&shape->tape, node) == JSON_FALSE;
	if (!next.is_foreign && !next.is_unknown)
		enter_schema(shape, &next, node);
	else if (next.effect != CONFIG_CLOSES)
		next.effect = CONFIG_WARNING;
	return next;
}

/* Return the child of the container at @at that is at @token or around it: the token of its key in
 * an object. */
static uint32_t find_child(const struct json_tape *tape, uint32_t at, uint32_t token)
{
	bool is_object = json_type_at(tape, at) == JSON_OBJECT;
	uint32_t child = json_first(tape, at);

	for (;;) {
		uint32_t next = is_object ? json_next_key(tape, child) : json_next(tape, child);

		if (token < next)
			return child;
		child = next;
	}
}

struct config_place config_shape_find(
	const struct config_shape *shape, const struct json_tape *tape, uint32_t token)
{
	struct config_place place = {.effect = CONFIG_CLOSES};
	uint32_t at = 0;

	while (at < token && !place.is_unknown && !place.is_foreign) {
		uint32_t child = find_child(tape, at, token);

		if (json_type_at(tape, at) == JSON_OBJECT) {
			place = config_shape_step(shape, &place, tape, child);
			at = child + 1;
		} else {
			uint32_t items = json_find(&shape->tape, place.node, "items");

			place.is_foreign = items == JSON_NONE;
			enter_schema(shape, &place, items);
			at = child;
		}
	}
	return place;
}

uint32_t config_shape_hint(const struct config_shape *shape, const struct config_place *place)
{
	return place->is_unknown
		       ? JSON_NONE
		       : json_find_typed(&shape->tape, place->node, "x-hint", JSON_STRING);
}

/* ── checks ──────────────────────────────────────────────────────────────────────────────────── */

int config_shape_check(struct config_shape *shape, const struct config_place *place,
	const struct json_tape *tape, uint32_t value, struct schema_report *ret_report)
{
	static const struct schema_options options = {.is_trusted = true, .is_brief = true};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	int r = 0;

	/* The toolboxes of a configuration mostly have the same settings, one after the other. */
	if (!shape->schema || shape->node != place->node) {
		schema_free(take_ptr(shape->schema));
		shape->node = place->node;
		r = schema_compile(&shape->tape, place->node, &options, &shape->schema, &error);
	}
	check(r <= 0);
	if (r == 0)
		r = schema_validate(shape->schema, shape->context, tape, value);
	if (r > 0)
		r = schema_explain(shape->schema, shape->context, tape, value, ret_report);
	ret_report->is_cut |= r > 0;
	return r < 0 ? r : 0;
}

/* Return whether the string at @token has the character U+0000. */
static bool has_nul(const struct json_tape *tape, uint32_t token)
{
	static const char escape[] = "\\u0000";
	const char *text = json_bytes(tape, token);
	size_t size = json_at(tape, token)->length;

	for (size_t at = 0; at + sizeof(escape) - 1 <= size; at += text[at] == '\\' ? 2 : 1)
		if (memcmp(text + at, escape, sizeof(escape) - 1) == 0)
			return true;
	return false;
}

uint32_t config_find_nul(const struct json_tape *tape, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i < end; i++)
		if (json_type_at(tape, i) == JSON_STRING &&
			json_at(tape, i)->flags & JSON_ESCAPED && has_nul(tape, i))
			return i;
	return JSON_NONE;
}
