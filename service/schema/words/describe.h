/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "schema/node.h"
#include "util/buffer.h"

/*
 * Describe an expected or actual value in words for the middle of a sentence: "an integer from 1 to
 * 365", "one of "low", "high"", "the string "chair"". The text is one line of bounded length
 * without control characters, and does not show how the schema is written.
 */

/* Values and names are cut to so many code points. */
#define DESCRIBE_POINTS_MAX 60

/* Lists of values and names are cut to so many. */
#define DESCRIBE_LIST_MAX 10

/* Whether @node takes any value, so that there is nothing to describe. */
static inline bool describe_takes_all(const struct node *node)
{
	return node->types == NODE_ANY && node->deep == 0;
}

/* Describe the values allowed by @node, with an article. */
void describe_node(const struct node *node, struct buffer *out);

/* Describe the values allowed by a branch of @applicator. */
void describe_alternatives(const struct node_applicator *applicator, struct buffer *out);

/* Append @before and the `contentEncoding` of strings of @node, if there is one; return whether
 * there is. */
bool describe_encoding(const struct node *node, const char *before, struct buffer *out);

/* The types implied by the keywords of @node: {"minimum": 1} means a number. */
unsigned int describe_implied_types(const struct node *node);

/* The value at @index of @tape with the name of its type. */
void describe_value(const struct json_tape *tape, uint32_t index, struct buffer *out);

/* The JSON text of the value at @index of @tape, cut. */
void describe_text(const struct json_tape *tape, uint32_t index, struct buffer *out);

/* The name of a property, in quotes. */
void describe_name(const char *name, size_t size, struct buffer *out);

/* `one of "a", "b"` or, of one value, the value: all values of @values, which belong to @node. */
void describe_values(const struct node *node, const struct node_values *values, struct buffer *out);

/* List the properties of the object described by @node in one line; append nothing for other
 * nodes. */
void describe_members(const struct node *node, struct buffer *out);

/* Return the target of a lone reference, the node with the sections. */
const struct node *describe_target(const struct node *node);
