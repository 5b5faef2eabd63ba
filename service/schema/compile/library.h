/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/arena.h"
#include "schema/compile/keyword.h"
#include "schema/compile/map.h"
#include "schema/schema.h"
#include "schema/source.h"
#include "util/cleanup.h"

/*
 * The possible targets of a `$ref` while a schema is compiled.
 *
 *   source     a document: the schema itself, one registered beside it, a built-in metaschema
 *   resource   a part of a source with a URI of its own: its root, and every subschema with `$id`
 *   anchor     a name for a place in a resource; a dynamic one shares its name with others
 *
 * A source is walked once when it is added, and what it defines is remembered. Registered documents
 * and metaschemas are added when something refers to them, not before. Nothing is ever fetched: an
 * unregistered URI is an error.
 */
struct resource {
	const char *uri;
	struct source *source;
	uint32_t token;
	bool is_used; /* something was compiled from it */
	struct dialect dialect;
};

/* The place of a schema. */
struct place {
	struct source *source;
	uint32_t token;
	uint32_t resource;
};

struct anchor {
	const char *name;
	struct place place;
	bool is_dynamic;
	uint32_t dynamic_name; /* index of its name among the dynamic ones */
};

/* A dynamic anchor. */
struct dynamic_anchor {
	uint32_t anchor;   /* its index */
	struct node *node; /* the node of its place, once a `$dynamicRef` may mean it; or NULL */
	struct dynamic_anchor *next;
};

/* The name of dynamic anchors. */
struct dynamic_name {
	bool is_wanted; /* a `$dynamicRef` has it */
	uint32_t n_candidates;
	struct node_candidate *candidates; /* all possible targets, once everything is compiled */
};

struct library {
	struct arena *arena; /* borrowed; sources and texts live in it */
	const struct schema_options *options;
	struct schema_error *error;
	struct dialect dialect; /* the draft of a schema without $schema */
	struct source *sources;
	struct resource *resources;
	uint32_t n_resources;
	struct anchor *anchors;
	uint32_t n_anchors;
	struct map by_uri;    /* to indexes of resources */
	struct map by_anchor; /* index of the resource, as bytes, and name: to indexes of anchors */
	struct dynamic_anchor *dynamics; /* all, the newest first */
	uint32_t n_dynamics;
	struct dynamic_name *names;
	uint32_t n_names;
	struct map by_name; /* to indexes of names */
};

/* Copy the schema at @root of @tape and collect its definitions. @uri ("" for none) is borrowed. 0,
 * SCHEMA_E_REFUSED with the error filled, or -ENOMEM. */
int library_add(struct library *library, const char *uri, const struct json_tape *tape,
	uint32_t root, struct place *ret_place);

void library_deinit(struct library *library);
