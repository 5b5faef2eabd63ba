/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "util/buffer.h"

/*
 * The schemas of a tool inside a larger document. A reference of such a schema begins at its own root (`#/$defs/x`),
 * which inside a document is another one. So references are replaced by what they mean, as in the listings for models
 * (catalogue/model_schema.h); a schema that keeps some has an `$id` (JSON Schema 2020-12, 8.2.1), which makes it a
 * root of its own. @name makes that unique.
 */

/* Append the schema of the arguments of @tool. */
void tool_document_arguments(const struct tool *tool, const char *name, struct buffer *out);

/* Append the schema of the response to a call of @tool: {"name", "result"}. */
void tool_document_answer(const struct tool *tool, const char *name, struct buffer *out);
