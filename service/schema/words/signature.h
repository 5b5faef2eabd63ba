/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schema/schema.h"
#include "util/buffer.h"

/*
 * A tool's schemas on one line, as a person reads them:
 *
 *   add(a: integer, b: integer) → result: integer
 *   find(text: string, days: array of integer, unit: "c"|"f" = "c", until?: string|null) → any
 *
 * `= VALUE` is the default of an optional parameter, `?` marks one without a default. The text is
 * one line of bounded length. It may hold control characters of the schema's author.
 */

/* Append the parameters of an object of @schema: `a: integer, b: integer`. */
void signature_write_parameters(const struct schema *schema, struct buffer *out);

/* Append what a result of @schema is: its members like parameters, or its type. */
void signature_write_result(const struct schema *schema, struct buffer *out);

/* Append what the member @key of @size bytes of an object of @schema has to be, in the words of
 * violations: "an array of at most 3 elements, each an integer". */
void signature_describe_member(
	const struct schema *schema, const char *key, size_t size, struct buffer *out);
