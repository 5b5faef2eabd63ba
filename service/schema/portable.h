/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"

/*
 * A schema for documents of other programs. They know less of JSON Schema than we check: most read
 * one draft, follow only references into the document itself, and expect an object where a schema
 * is. So a portable schema is of draft 2020-12, and means the same wherever it is put:
 *
 *   $ref, $dynamicRef    replaced by the target; a recursive target becomes a definition
 *   $schema, $id, anchors, $defs, discriminator    left out: no reference needs them any more
 *   draft-07             items: […], additionalItems      -> prefixItems, items
 *                        dependencies                     -> dependentRequired, dependentSchemas
 *   true, false          {}, {"not": {}}; they stay in additionalProperties and unevaluated…
 *   enum: []             "not": {}
 *   an array             "items": {} where it has none
 *   unknown keywords     left out if the value is an object or array, or the other draft knows it
 *   the rest             as it is
 *
 * A schema for which this is too long has each target of a reference as a definition. A reference
 * that leads out of the schema, as to a metaschema, counts as {}.
 */

/* The name of the definitions: the references to them are BASE NAME 1, BASE NAME 2, … */
struct portable_names {
	const char *base; /* "#/$defs/" */
	const char *name; /* "r"; needs no escapes in JSON, URIs and JSON Pointers */
};

/* The names of the definitions in a schema with a document of its own. */
extern const struct portable_names portable_own_names;

/* A longer schema has all targets of references as definitions. */
#define PORTABLE_BYTES_MAX 131072

/* Inlining adds at most so many bytes to three times the bytes of a schema. */
#define PORTABLE_BYTES_ADDED 16384

/* Append the portable form of the schema @text, JSON for schema_compile(), to @out, and its
 * definitions to @definitions as members of an object, `"r1":{…},"r2":{…}`. Each records -ENOMEM.
 * Return whether every schema of @text is an object of draft 2020-12. */
bool portable_write(const char *text, const struct portable_names *names, struct buffer *out,
	struct buffer *definitions);

/* Append @definitions, as portable_write() wrote them, as `$defs` of the object at the end of
 * @out. */
void portable_add_definitions(struct buffer *out, const struct buffer *definitions);
