/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "schema/schema.h"

/*
 * The shape of a configuration: schemas/configuration.schema.json, built in, and read when there is
 * something to check.
 *
 *   a value of a file ──schema of its place──▶ violations
 *   the place of each ──x-mistake, x-hint────▶ its effect, a hint
 *
 * `x-mistake` of a schema is the effect of a mistake in a value or inside it, unless a schema
 * further inside has another. Without any a mistake closes the configuration.
 */

enum config_effect {
	CONFIG_CLOSES,   /* closes the configuration: the value may forbid something */
	CONFIG_NOT_USED, /* an error; the value is not used. An unknown key is only a warning */
	CONFIG_WARNING,  /* a warning; the value is not used */
	CONFIG_NO_START, /* an error, with which no service starts */
};

/* The place of a value. */
struct config_place {
	uint32_t node; /* the token of its schema */
	enum config_effect effect;
	bool is_unknown; /* a key of an object that does not take it, whose schema @node is */
	bool is_foreign; /* a key that belongs to others, of the object whose schema @node is */
};

struct config_shape {
	struct json_tape tape; /* the schema; empty until it is opened */
	struct schema *schema; /* the schema of the last place; NULL: none yet */
	uint32_t node;         /* the token of the schema at that place */
	struct schema_context *context;
};

/* schemas/configuration.schema.json, built in. */
extern const char configuration_schema_json[];

/* Read @schema, a text, if that was not done. Return 0 or -ENOMEM. */
int config_shape_open(struct config_shape *shape, const char *schema);

void config_shape_deinit(struct config_shape *shape);

/* Return the place of the value at @token, or of the value of the key there, of @tape, whose root
 * is a whole configuration. @shape is open. */
struct config_place config_shape_find(
	const struct config_shape *shape, const struct json_tape *tape, uint32_t token);

/* Return the place of the member whose key is at @key of the object at @place. */
struct config_place config_shape_step(const struct config_shape *shape,
	const struct config_place *place, const struct json_tape *tape, uint32_t key);

/* Return the hint of the place @place (JSON_NONE: none), a string of the schema. */
uint32_t config_shape_hint(const struct config_shape *shape, const struct config_place *place);

/* Find the violations of the value at @value by the schema of @place. The paths in @ret_report lead
 * from the value; after ret_report->is_cut there may be others. Return 0 or -ENOMEM. */
int config_shape_check(struct config_shape *shape, const struct config_place *place,
	const struct json_tape *tape, uint32_t value, struct schema_report *ret_report);

/* Return the first of the tokens from @from to before @end that is a string with the character
 * U+0000, or JSON_NONE. */
uint32_t config_find_nul(const struct json_tape *tape, uint32_t from, uint32_t end);
