/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/compile/keyword.h"
#include "schema/compile/library.h"
#include "schema/compile/refuse.h"
#include "schema/node.h"

/*
 * One subschema while it is compiled, and what all sections need for reading its keywords.
 *
 *   compile ──▶ sections (applicator, container, value) ──▶ subschema
 *
 * A child or the target of a reference becomes a node at once, and the pointer to it is good at
 * once; its own keywords are read later, when compile.c takes it from the queue. The queue is the
 * list of all nodes of the schema, in the order of their making.
 */

/* One run of the compiler. */
struct compiler {
	struct library library;
	struct schema *schema;
	struct node *last; /* the newest of all nodes */
	uint32_t n_nodes;
	struct node ***places; /* the pointers to nodes, for linking to change */
	uint32_t n_places;
};

/* The subschema under way: an object. */
struct subschema {
	struct compiler *compiler;
	struct node *node;
	const struct json_tape *tape;
	struct dialect dialect;
	uint32_t at[KEYWORD_COUNT]; /* values of its keywords; 0: absent or without effect */
};

/* Refuse the schema because of @token of the subschema's source; see schema_refuse(). */
#define subschema_refuse(subschema, token, ...)                                                    \
	schema_refuse((subschema)->compiler->library.error, (subschema)->node->source, token,      \
		__VA_ARGS__)

/* Allocate @size zeroed bytes for the lifetime of the schema; NULL without memory. */
void *subschema_alloc(const struct subschema *subschema, size_t size);

/* Refuse the schema unless the value of @keyword is of @type. 0, SCHEMA_E_REFUSED, -ENOMEM. */
int subschema_expect(const struct subschema *subschema, enum keyword keyword, enum json_type type);

/* Set *ret to the value of @keyword, a non-negative whole number, at most NODE_UNBOUNDED. 0,
 * SCHEMA_E_REFUSED, -ENOMEM. */
int subschema_size(const struct subschema *subschema, enum keyword keyword, uint32_t *ret);

/* Set *ret to the string at @token as a key, decoded; the schema owns its bytes. 0 or -ENOMEM. */
int subschema_key(const struct subschema *subschema, uint32_t token, struct key *ret);

/* Compile the string (or key) at @token as a pattern; the schema owns it. @can_ignore: if the
 * options allow it, ignore a refused pattern and leave *ret unchanged. 0, SCHEMA_E_REFUSED,
 * -ENOMEM. */
int subschema_pattern(const struct subschema *subschema, uint32_t token, bool can_ignore,
	const struct pattern **ret);

/* Point *where to the node of the subschema at @token. 0, SCHEMA_E_REFUSED, -ENOMEM. */
int subschema_child(const struct subschema *subschema, uint32_t token, struct node **where);

/* Set *ret to a list of the @ret_count nodes of the array of subschemas at @token; the schema owns
 * it. 0, SCHEMA_E_REFUSED, -ENOMEM. */
int subschema_list(
	const struct subschema *subschema, uint32_t token, struct node ***ret, uint32_t *ret_count);

/* Point *where to the node of the schema at @place, which is queued if it is new. @where must stay
 * where it is until the schema is linked. 0, SCHEMA_E_REFUSED, -ENOMEM. */
int compiler_place(struct compiler *compiler, const struct place *place, struct node **where);
