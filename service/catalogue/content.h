/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"

/*
 * The schemas of tools with rich content, whose result has blocks and an object for programs:
 *
 *   {"content": [block, …], "structured": {…}}
 *                                   └── the author's output schema is for this object
 *
 * The output schema of such a tool describes the whole result (schemas/content.schema.json), with
 * the author's schema inside. References in the author's schema keep their meaning, because it has
 * an `$id` there.
 */

/* Append the schema of results around the author's schema @structured; NULL: no such schema. */
void content_schema_write(const char *structured, struct buffer *out);

/* Append the author's schema in the output schema @schema, written by content_schema_write().
 * Return whether @schema has one. */
bool content_schema_read(const char *schema, struct buffer *out);
