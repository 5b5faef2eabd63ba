/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "schema/arena.h"

struct child_index;
struct node;

/*
 * A document with schemas, copied to live as long as the schemas compiled from it: messages quote
 * the text, defaults are copied from it, constants are compared with tokens.
 */
struct source {
	const char *uri;       /* under which it was registered; "" for the schema itself */
	struct json_tape tape; /* tape of the copy: the root is token 0; memory of the arena */
	size_t offset;         /* offset of the root's text in the copied tape */
	struct node **nodes;   /* by token: the node compiled from there, or NULL */
	uint32_t *resources;   /* by token: index + 1 of the resource with this root */
	struct child_index **indexes; /* by token, or NULL (schema/compile/children) */
	struct source *next;
};

/* A copy of the value at @root of @tape, in @arena; NULL without memory. @uri is borrowed. */
struct source *source_new(
	struct arena *arena, const char *uri, const struct json_tape *tape, uint32_t root);
