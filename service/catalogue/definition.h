/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/toolbox.h"
#include "util/buffer.h"

/* The formats of a tool's definition (contract.md, Definitions). */
enum definition_format {
	DEFINITION_FULL,      /* everything, as OVOS lists it */
	DEFINITION_COMPACT,   /* name, description, parameters */
	DEFINITION_OPENAI,    /* the same inside {"type": "function", "function": …} */
	DEFINITION_ANTHROPIC, /* name, description, input_schema, input_examples */
	DEFINITION_MCP,       /* a Tool of the Model Context Protocol */
	DEFINITION_MARKDOWN,  /* text (markdown.h) */
};

/* The format called @name of @size bytes, or -1. */
int definition_format_from_name(const char *name, size_t size);

/* Return the name of the format at @format of the enum; NULL after the last. */
const char *definition_format_name(size_t format);

/* The names of the formats, for messages that list them. */
#define DEFINITION_FORMATS                                                                         \
	"\"full\", \"compact\", \"openai\", \"anthropic\", \"mcp\" or \"markdown\""

/* Append the definition of @tool. @name: its name in the formats for models, not read for the full
 * one (catalogue_model_name()). Return false, and append nothing, if the tool has no place in
 * @format. */
bool definition_write(const struct tool *tool, enum definition_format format, const char *name,
	struct buffer *out);

/* Append the reason why @tool has no place in @format. */
void definition_write_reason(
	const struct tool *tool, enum definition_format format, struct buffer *out);

/* Append the full definition of a tool in the making; @extra is the text of further members,
 * beginning with a comma, or "". */
void definition_write_full(const struct tool *tool, const char *extra, struct buffer *out);
