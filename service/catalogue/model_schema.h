/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "schema/portable.h"
#include "util/buffer.h"

/*
 * An argument schema as the interfaces of language models take it. They take less of JSON Schema
 * than we check, and one refused schema has the whole request refused:
 *
 *   root      "type": "object" with "properties"; no oneOf, anyOf, allOf, enum, not, $ref, if
 *   the rest  portable (schema/portable.h): draft 2020-12, with its references replaced
 *
 * Parameters in the alternatives of a root become parameters of the root itself:
 *
 *   allOf, $ref            properties and required of all of them
 *   oneOf, anyOf, then,    properties of all of them; required in each, required here. Constants
 *   else                   become one enum, other schemas of one property an anyOf
 *
 * Calls are checked with the schema of the tool, so no rule is lost by leaving it out here.
 *
 * OpenAI: type 'object', no 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level (the text of
 * invalid_function_parameters); "object schema missing properties" and "array schema missing items"
 * (the same); https://platform.openai.com/docs/guides/structured-outputs, Supported schemas: for
 * "strict". Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level" (the
 * text of invalid_request_error);
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools.
 */

/* Append the form of the schema @text, compact JSON, for a model. @out records -ENOMEM. Return
 * whether programs with draft 2020-12 may have @text itself: its root has every needed member, and
 * nothing else. */
bool model_schema_write(const char *text, struct buffer *out);

/* Append the form without its definitions to @out, and these to @definitions, as portable_write()
 * does. Return the same as model_schema_write(). */
bool model_schema_write_apart(const char *text, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions);

/* Return whether the schema @text, written by model_schema_write(), keeps the rules of OpenAI's
 * strict mode: each object has only its "properties", all of them "required", and only keywords of
 * this mode occur, within its limits. */
bool model_schema_is_strict(const char *text, size_t size);
