/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "schema/portable.h"
#include "util/buffer.h"

/*
 * The parts of a tool inside a document for programs of others. Its schemas are portable
 * (schema/portable.h), so they mean the same wherever they are put. Each function adds the
 * definitions for the references of its schema to @definitions, members of an object, whose names
 * begin with @names.
 */

/* Append the schema of the arguments of @tool, as a model gets it (catalogue/model_schema.h). */
void tool_document_arguments(const struct tool *tool, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions);

/* Append the schema of the response to a call of @tool: {"name", "result"}. */
void tool_document_answer(const struct tool *tool, const struct portable_names *names,
	struct buffer *out, struct buffer *definitions);

/* Append the description of @tool as JSON, without white space around it. */
void tool_document_description(const struct tool *tool, struct buffer *out);

/* Append a short text about @tool as JSON: its title, or the first line of its description. */
void tool_document_summary(const struct tool *tool, struct buffer *out);
