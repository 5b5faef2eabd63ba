/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/check.h"

#include <errno.h>
#include <string.h>

#include "config/fields.h"
#include "json/member.h"
#include "json/pointer.h"
#include "schema/words/describe.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

/* Return the token at the pointer @path below the value whose pointer is @base, or JSON_NONE
 * without memory. */
static uint32_t find_violation(
	const struct config_layer *layer, const struct buffer *base, const char *path)
{
	cleanup(buffer_deinit) struct buffer pointer = {0};

	buffer_append_buffer(&pointer, base);
	buffer_append_string(&pointer, path);
	return buffer_terminate(&pointer) ? json_pointer_nearest(&layer->tape, pointer.data)
					  : JSON_NONE;
}

/* Report the violations of the value at @value, at @place. */
static void report_violations(struct config_reader *reader, struct config_layer *layer,
	uint32_t value, const struct config_place *place, const struct schema_report *report)
{
	cleanup(buffer_deinit) struct buffer base = {0};

	json_pointer_write(&layer->tape, value, &base);
	for (size_t i = 0; i < report->n_violations; i++) {
		const struct schema_violation *violation = &report->violations[i];
		uint32_t token = find_violation(layer, &base, violation->path);
		struct config_place at;

		if (token == JSON_NONE) {
			reader->error = -ENOMEM;
			return;
		}
		at = config_shape_find(&reader->shape, &layer->tape, token);
		config_reader_mistake(reader, layer, token, &at, violation->message);
	}
	if (report->is_cut)
		config_reader_mistake(reader, layer, value, place, "has more mistakes than these");
}

/* Report the strings in the value at @value that have the character U+0000: most readers would take
 * the text before it for all. */
static void report_nul(struct config_reader *reader, struct config_layer *layer, uint32_t value)
{
	const struct json_tape *tape = &layer->tape;
	uint32_t token = value;

	while ((token = config_find_nul(tape, token, json_next(tape, value))) != JSON_NONE) {
		struct config_place place = config_shape_find(&reader->shape, tape, token);

		if (!place.is_foreign && !place.is_unknown)
			config_reader_mistake(reader, layer, token, &place,
				"must not contain the character U+0000");
		token++;
	}
}

/* Check the value at @value by the schema of @place. */
static void check_value(struct config_reader *reader, struct config_layer *layer, uint32_t value,
	const struct config_place *place)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	int r = config_shape_check(&reader->shape, place, &layer->tape, value, &report);

	if (r < 0)
		reader->error = r;
	if (report.n_violations > 0 || report.is_cut)
		report_violations(reader, layer, value, place, &report);
	report_nul(reader, layer, value);
}

/* ── names of keys ───────────────────────────────────────────────────────────────────────────── */

/* An unknown key closes when it differs in at most so many letters from a key that closes. */
#define LETTERS_THAT_CLOSE 2

/* The key of the section that may have the token of the embedded bus. */
static const char bus_section[] = "embedded";

static bool is_close(const char *name, const char *known, size_t size)
{
	return text_distance(name, strlen(name), known, size, LETTERS_THAT_CLOSE) <=
	       LETTERS_THAT_CLOSE;
}

/* Return the name of @properties that is nearest to @name, with its size, or NULL. */
static const char *find_nearest(
	const struct json_tape *shape, uint32_t properties, const char *name, size_t *ret_size)
{
	const char *nearest = NULL;
	unsigned int least = UINT32_MAX;
	unsigned int distance;

	json_each_key(i, shape, properties) {
		const char *known = json_bytes(shape, i);
		size_t size = json_at(shape, i)->length;

		if (!text_is_near(name, strlen(name), known, size, &distance) || distance >= least)
			continue;
		least = distance;
		nearest = known;
		*ret_size = size;
	}
	return nearest;
}

/* Append the names of @properties, as the schema's own messages do. */
static void append_names(const struct json_tape *shape, uint32_t properties, struct buffer *out)
{
	unsigned int n = 0;

	json_each_key(i, shape, properties) {
		buffer_append_string(out, n > 0 ? ", " : "; the object takes ");
		if (n++ == DESCRIBE_LIST_MAX) {
			buffer_append_string(out, "…");
			return;
		}
		buffer_printf(out, "'%.*s'", (int)json_at(shape, i)->length, json_bytes(shape, i));
	}
}

/* Return whether @name may be a misspelling of a key of @properties that closes. */
static bool may_close(const struct json_tape *shape, uint32_t properties, const char *name)
{
	json_each_key(i, shape, properties)
		if (json_find(shape, i + 1, "x-mistake") == JSON_NONE &&
			is_close(name, json_bytes(shape, i), json_at(shape, i)->length))
			return true;
	return false;
}

/* Report the unknown key at @key, at @place. An unknown key of `toolboxd` closes when it may be a
 * misspelling of a key that closes. */
static void report_unknown(struct config_reader *reader, struct config_layer *layer, uint32_t key,
	struct config_place *place)
{
	const struct json_tape *shape = &reader->shape.tape;
	uint32_t properties = json_find(shape, place->node, "properties");
	bool is_top = place->node == config_find(shape, 0, "properties.toolboxd");
	cleanup_free char *name = json_string_dup(&layer->tape, key, NULL);
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *nearest;
	size_t size;

	if (!name) {
		reader->error = -ENOMEM;
		return;
	}
	if (is_top) {
		place->effect = may_close(shape, properties, name) ? CONFIG_CLOSES : CONFIG_WARNING;
		reader->is_token_hidden |= is_close(name, bus_section, sizeof(bus_section) - 1);
	}
	nearest = find_nearest(shape, properties, name, &size);
	buffer_printf(&text, "unexpected property '%s'", name);
	if (nearest)
		buffer_printf(&text, "; did you mean '%.*s'?", (int)size, nearest);
	else if (!is_top)
		append_names(shape, properties, &text);
	if (buffer_terminate(&text))
		config_reader_mistake(reader, layer, key + 1, place, text.data);
	else
		reader->error = -ENOMEM;
}

/* ── sections ────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the schema at @node has schemas of members, and nothing else that an object has to
 * keep as a whole. */
static bool is_by_member(const struct json_tape *shape, uint32_t node)
{
	static const char *const whole[] = {"propertyNames", "maxProperties"};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (json_find(shape, node, whole[i]) != JSON_NONE)
			return false;
	return json_find(shape, node, "properties") != JSON_NONE ||
	       json_find_typed(shape, node, "additionalProperties", JSON_OBJECT) != JSON_NONE;
}

/* Check the value at @value, at @place. If the schema of an object allows it, each member is
 * checked alone, so only the schemas of present members are compiled. */
static void check_place(struct config_reader *reader, struct config_layer *layer, uint32_t value,
	const struct config_place *place)
{
	const struct json_tape *tape = &layer->tape;

	if (json_type_at(tape, value) == JSON_NULL)
		return;
	if (json_type_at(tape, value) != JSON_OBJECT ||
		!is_by_member(&reader->shape.tape, place->node)) {
		check_value(reader, layer, value, place);
		return;
	}
	json_each_key(key, tape, value) {
		struct config_place inner = config_shape_step(&reader->shape, place, tape, key);

		if (inner.is_unknown)
			report_unknown(reader, layer, key, &inner);
		else if (!inner.is_foreign)
			check_place(reader, layer, key + 1, &inner);
	}
}

/* Check the section @key of @layer, if it is there. */
static void check_section(struct config_reader *reader, struct config_layer *layer, const char *key)
{
	uint32_t section = json_find(&layer->tape, 0, key);
	struct config_place place;
	int r;

	if (section == JSON_NONE)
		return;
	r = config_shape_open(&reader->shape, configuration_schema_json);
	if (r < 0) {
		reader->error = r;
		return;
	}
	place = config_shape_find(&reader->shape, &layer->tape, section);
	check_place(reader, layer, section, &place);
}

void config_check_layer(struct config_reader *reader, struct config_layer *layer, bool is_client)
{
	if (!is_client)
		check_section(reader, layer, "toolboxd");
	/* A URL takes the place of the section. */
	if (!reader->environment.has_bus)
		check_section(reader, layer, "websocket");
}
