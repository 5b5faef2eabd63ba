/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/number.h"
#include "json/reader.h"
#include "schema/arena.h"
#include "schema/key.h"
#include "schema/schema.h"

/*
 * The compiled form: one node per subschema, all of them in one arena, immutable once linked.
 *
 * A subschema is not a list of instructions but a node with a section per type of instance, because
 * a value has one type and needs no checks of the others:
 *
 *            ┌────────────── types: the types that may match (type, const, enum, in one mask)
 *            │   ┌────────── deep: the types with more checks
 *   node ──┬─┴───┴─
 *          ├── values ···························· enum and const        ┐
 *          ├── number: bounds, multipleOf                                │ only the section of the
 *          ├── string: lengths, patterns, format                         │ type that came is run,
 *          ├── array:  sizes, prefix, items, contains, unique            │ cheap checks first
 *          ├── object: sizes, the property table                         ┘
 *          ├── applicators: $ref, allOf, anyOf, oneOf, not, if
 *          └── unevaluated: what the others left over, always last
 *
 * So `{"type": "integer"}`, `true` and `false` are decided by two bit tests where they are used,
 * without a call. A subschema that is only a `$ref` is an alias: pointers to it point to its target
 * after linking. A subschema that is only an `anyOf` or `oneOf`, with a single branch not decided
 * by the type (`anyOf: [X, null]`), runs only that branch.
 *
 * The property table holds the names of `properties` and `required` together. One walk over the
 * members of the instance finds each in the table (guessing the entry after the last), counts the
 * required members and checks the value. Keys of an instance are known to differ, so with as many
 * required hits as required names, all are there.
 */

/* Types of instances, one bit each. Whole numbers are a type of their own. */
enum node_type {
	NODE_NULL = 1u << JSON_NULL,
	NODE_FALSE = 1u << JSON_FALSE,
	NODE_TRUE = 1u << JSON_TRUE,
	NODE_FRACTION = 1u << JSON_NUMBER, /* a fractional number */
	NODE_STRING = 1u << JSON_STRING,
	NODE_ARRAY = 1u << JSON_ARRAY,
	NODE_OBJECT = 1u << JSON_OBJECT,
	NODE_INTEGER = 1u << 7,
	NODE_BOOLEAN = NODE_FALSE | NODE_TRUE,
	NODE_NUMBER = NODE_FRACTION | NODE_INTEGER,
	NODE_ANY = 0xFF,
};

/* A size without a bound. */
#define NODE_UNBOUNDED UINT32_MAX

/* `enum` or `const`: the instance equals one of the values. */
struct node_values {
	struct key_set strings; /* the strings among the values */
	const uint32_t *others; /* tokens in the node's source: numbers, arrays, objects */
	uint32_t n_others;
	uint32_t types;                 /* types of all values: decides null, false and true */
	uint32_t token;                 /* token of the keyword's value in the node's source */
	bool is_constant;               /* `const`: the token is the value, not a list */
	const struct node_values *next; /* the other keyword, where a schema has both */
};

enum node_bound_kind {
	NODE_MINIMUM,
	NODE_EXCLUSIVE_MINIMUM,
	NODE_MAXIMUM,
	NODE_EXCLUSIVE_MAXIMUM,
	NODE_MULTIPLE_OF,
	NODE_BOUNDS
};

/* A number in a schema, as decimal text; NULL where the keyword is absent. */
struct node_bound {
	const char *text;
	uint32_t size;
};

/*
 * Bounds are compared as decimal text, exactly. When all of them are short whole numbers (is_short)
 * and the instance is short as well, they are compared as integers instead: a whole number with low
 * and high, a fraction by its floor with floor_low and floor_high.
 */
struct node_number {
	bool is_short;
	int64_t low, high;
	int64_t floor_low, floor_high;
	int64_t multiple; /* 0: no multipleOf, or not a short whole number */
	struct node_bound bounds[NODE_BOUNDS];
};

struct node_string {
	uint32_t length_min, length_max; /* code points */
	const struct pattern *pattern;   /* or NULL */
	const struct format *format;     /* asserted, or NULL */
	const struct format *encoding;   /* contentEncoding, draft-07 only */
	const struct format *media;      /* contentMediaType, draft-07 only */
};

struct node_array {
	uint32_t items_min, items_max;
	bool is_unique;
	bool contains_marks; /* 2020-12: items matched by `contains` are evaluated */
	uint32_t n_prefix;
	struct node **prefix;
	struct node *items; /* the schema of elements after the prefix, or NULL */
	struct node *contains;
	uint32_t contains_min, contains_max;
};

/* One name of the property table. */
struct node_property {
	struct key key;    /* the name once more, beside what the walk reads with it */
	struct node *node; /* NULL: only required */
	bool is_required;
	uint32_t default_token; /* token of its `default`, in the source of the table's node; 0:
	                         * none */
};

struct node_pattern_property {
	const struct pattern *pattern;
	struct node *node;
};

/* dependentRequired, dependentSchemas, dependencies: what a member asks of its object. */
struct node_dependency {
	struct key trigger;
	const struct key *required;
	uint32_t n_required;
	struct node *node; /* or NULL */
};

struct node_object {
	uint32_t members_min, members_max;
	uint32_t n_required;
	uint32_t names_steps;             /* the cost of comparing all names, when they are long */
	struct key_set names;             /* parallel to properties */
	struct node_property *properties; /* and one more, equal to no key */
	struct node *additional;          /* or NULL */
	uint32_t n_patterns;
	struct node_pattern_property *patterns;
	struct node *names_node; /* propertyNames, or NULL */
	uint32_t n_dependencies;
	struct node_dependency *dependencies;
};

enum node_applicator_kind {
	NODE_REF,         /* nodes[0] */
	NODE_DYNAMIC_REF, /* candidates by resource, else nodes[0] */
	NODE_ALL_OF,
	NODE_ANY_OF,
	NODE_ONE_OF,
	NODE_NOT, /* nodes[0] */
	NODE_IF,  /* nodes: if, then, else; the last two may be NULL */
};

/* A possible target of a `$dynamicRef`. */
struct node_candidate {
	uint32_t resource;
	struct node *node;
};

struct node_applicator {
	enum node_applicator_kind kind;
	uint32_t n_nodes;
	struct node **nodes;
	/* NODE_DYNAMIC_REF: the candidates, in the order of their resources, shared by all
	 * references to one anchor; while compiling, the index of its name in the library */
	uint32_t n_candidates;
	const struct node_candidate *candidates;
	uint32_t name;
	struct node_applicator *next;
};

struct node {
	uint8_t types;     /* enum node_type: the possible types */
	uint8_t deep;      /* types with more checks */
	uint8_t leaf;      /* types whose checks are in one section: scalars, records */
	uint8_t declared;  /* the types of `type` alone */
	bool is_scoped;    /* needs the slow entry: unevaluated*, or the dynamic scope is watched */
	bool is_alias;     /* is nothing but its one $ref */
	uint16_t aliases;  /* leading here one after the other, at the first reference */
	uint32_t resource; /* index of its schema resource */
	bool is_write_only; /* `writeOnly`: its values are not shown */
	const struct node_values *values;
	const struct node_number *number;
	struct node_string *string;
	struct node_array *array;
	struct node_object *object;
	struct node_applicator *applicators;
	const struct node *only; /* anyOf or oneOf of one branch, for all deep types */
	struct node *unevaluated_items;
	struct node *unevaluated_properties;
	const struct source *source; /* its place in the source */
	uint32_t token;
	struct node *next; /* all nodes of a schema, in the order of compiling */
};

/* A list of the patterns of a schema. */
struct owned_pattern {
	struct pattern *pattern;
	struct owned_pattern *next;
};

/* A compiled schema: everything in the arena, patterns beside it. */
struct schema {
	struct arena arena;
	struct node *root;
	struct node *nodes; /* all */
	struct owned_pattern *patterns;
	bool is_dynamic; /* the dynamic scope has to be watched */
	bool has_defaults;
	bool doubts_defaults; /* they were not checked */
	bool has_write_only;
};

/* Bounds on what a schema may be. */
#define SCHEMA_DEPTH_MAX      256    /* subschemas inside each other */
#define SCHEMA_SUBSCHEMAS_MAX 131072 /* nodes */
#define SCHEMA_ALIASES_MAX    256    /* subschemas of nothing but a `$ref`, in a row */
#define SCHEMA_DYNAMIC_MAX    1024   /* dynamic anchors */
#define SCHEMA_RESOURCES_MAX  4096   /* schemas with a URI of their own */
#define SCHEMA_URI_BYTES_MAX  2048   /* the length of one */

/* Return the type bit of the value at @index, for a node that accepts @types. The digits after the
 * point are read only for a node with different rules for whole numbers. */
static inline unsigned int node_type_of(
	const struct json_tape *tape, uint32_t index, unsigned int types)
{
	const struct json_token *token = json_at(tape, index);

	if (token->type != JSON_NUMBER)
		return 1u << token->type;
	if (!(token->flags & JSON_FRACTION))
		return NODE_INTEGER;
	if ((types & NODE_NUMBER) == NODE_INTEGER && json_number_is_integer(tape, index))
		return NODE_INTEGER;
	return NODE_FRACTION;
}

/* json_count, without a call but for the longest. */
static inline uint32_t node_count(const struct json_tape *tape, uint32_t index)
{
	uint32_t count = json_at(tape, index)->count;

	return count < JSON_COUNT_MAX ? count : json_count(tape, index);
}
