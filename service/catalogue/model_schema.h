/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"

/*
 * An argument schema as the interfaces of language models take it. They take less of JSON Schema than we
 * check, and one schema that they refuse has the whole request refused:
 *
 *   root      "type": "object" with "properties"; no oneOf, anyOf, allOf, enum, not, $ref, if
 *   $ref      replaced by the schema that it means; one that contains itself stays in "$defs"
 *   array     "items": {} where it has none
 *   the rest  as it is
 *
 * Calls are checked with the schema of the tool, so nothing is lost by what is left out. A schema that
 * would grow too long by this, or whose references are not JSON Pointers, keeps its "$defs" and "$ref"
 * below the root.
 *
 * OpenAI: type 'object', no 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level (the text of
 * invalid_function_parameters); "object schema missing properties" and "array schema missing items"
 * (the same);
 * https://platform.openai.com/docs/guides/structured-outputs, Supported schemas: for "strict".
 * Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level" (the text of
 * invalid_request_error); https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools.
 */

/* A longer schema keeps its references. */
#define MODEL_SCHEMA_BYTES_MAX 131072

/* Inlining adds at most so many bytes to three times those of a schema. */
#define MODEL_SCHEMA_BYTES_ADDED 16384

/* Append the form of the schema @text, compact JSON, for a model. @out records -ENOMEM. */
void model_schema_write(const char *text, struct buffer *out);

/* Return whether the schema @text, which model_schema_write() has written, keeps the rules of OpenAI's
 * strict mode: each object has no other than its "properties", which are all "required", and only
 * keywords that this mode has occur, within its limits. */
bool model_schema_is_strict(const char *text, size_t size);
