/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/keyword.h"
#include "schema/library.h"
#include "schema/node.h"

/*
 * From schemas to nodes.
 *
 *   compile ─▶ queue of subschemas ─▶ for each: keywords found once, then its sections
 *                    ▲                   │
 *                    └───────────────────┘ a child or the target of a $ref: its node is made and
 *                                          queued, if it was not before; the pointer is good at
 * once ─▶ link: aliases replaced, what applicators say of types folded into the masks
 *
 * The queue is what makes recursive schemas need no care and deep ones no stack.
 */
struct compiler {
	struct library library;
	struct schema *schema;
	struct node *last; /* of all nodes, the newest */
	uint32_t n_nodes;
	struct node ***places; /* where pointers to nodes stand, for linking */
	uint32_t n_places;
};

/* The subschema that is being compiled: an object. */
struct subschema {
	struct compiler *compiler;
	struct node *node;
	const struct json_tape *tape;
	struct dialect dialect;
	uint32_t at[KEYWORD_COUNT]; /* the values of its keywords, 0: absent or without effect */
};

/* A list of the patterns that a schema owns. */
struct owned_pattern {
	struct pattern *pattern;
	struct owned_pattern *next;
};

/* A schema as it is owned: everything in the arena, patterns beside it. */
struct schema {
	struct arena arena;
	struct node *root;
	struct node *nodes; /* all */
	struct owned_pattern *patterns;
	bool is_dynamic; /* the dynamic scope has to be watched */
	bool has_defaults;
};

/* The nodes of the schema at @place and of everything that it refers to. */
int compile_schema(struct compiler *compiler, const struct place *place);

/* Zeroed memory that lives as long as the schema; NULL without memory. */
void *compile_alloc(const struct subschema *subschema, size_t size);

/* Refuse what stands at @token of the subschema's source; see library_refuse. */
#define compile_refuse(subschema, token, ...)                                                      \
	library_refuse(                                                                            \
		&(subschema)->compiler->library, (subschema)->node->source, token, __VA_ARGS__)

/* Refuse unless the value of @keyword is of @type. 0, SCHEMA_E_REFUSED, -ENOMEM. */
int compile_expect(const struct subschema *subschema, enum keyword keyword, enum json_type type);

/* Let *where point to the node of the subschema at @token. */
int compile_child(const struct subschema *subschema, uint32_t token, struct node **where);

/* Let *where point to the node of the schema at @place. */
int compile_place(struct compiler *compiler, const struct place *place, struct node **where);

/* The lists @ret of @ret_count nodes for the array of subschemas at @token. */
int compile_list(
	const struct subschema *subschema, uint32_t token, struct node ***ret, uint32_t *ret_count);

/* The non-negative whole number that is the value of @keyword, at most NODE_UNBOUNDED. */
int compile_size(const struct subschema *subschema, enum keyword keyword, uint32_t *ret);

/* The string at @token as a key, decoded, in the arena. */
int compile_key(const struct subschema *subschema, uint32_t token, struct key *ret);

/* The pattern that is the string (or key) at @token, owned by the schema. 0, SCHEMA_E_REFUSED,
 * -ENOMEM. */
int compile_pattern(const struct subschema *subschema, uint32_t token, const struct pattern **ret);

/* The sections of a node. Each reads its keywords and leaves its pointer NULL without any. */
int compile_types(const struct subschema *subschema);
int compile_values(const struct subschema *subschema);
int compile_number(const struct subschema *subschema);
int compile_string(const struct subschema *subschema);
int compile_array(const struct subschema *subschema);
int compile_object(const struct subschema *subschema);
int compile_applicators(const struct subschema *subschema);

/* Find what the `$dynamicRef`s may lead to among the resources that are used by now; new nodes may
 * be queued. */
int compile_candidates(struct compiler *compiler);
