/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/tool_schemas.h"
#include "catalogue/toolbox.h"
#include "json/reader.h"
#include "manifest/diagnose.h"
#include "schema/schema.h"

/* The state shared by the tool entries of one manifest while they are read, and the part of reading
 * common to all kinds of tools: schemas. */

struct manifest_scope {
	const struct json_tape *tape;
	struct toolbox *toolbox;
	const struct json_tape *published; /* the risks of published ToolBoxes */
	const char *folder;                /* the manifest's, without symbolic links */
	struct schema_options schema_options;
	struct schema_context *context; /* for checking examples */
	struct diagnostics *problems;
};

/* Compile the schema at @token in place, so its problems have their lines, and store its compact
 * text in *ret_text; the caller owns both. A wrong schema is a problem, and both stay NULL. 0 or
 * -ENOMEM. */
int manifest_scope_compile(const struct manifest_scope *scope, uint32_t token,
	struct tool_schema *ret_schema, char **ret_text);

/* Compile a schema of ours, with parts of the author's, in the way of @author's. *ret_text is a
 * copy of @text. 0, -ENOMEM, or the positive status of a schema that is wrong. */
int manifest_scope_compile_text(const char *text, const struct schema_options *author,
	struct tool_schema *ret_schema, char **ret_text);

/* Read the schemas of the tool entry at @object into @tool. A missing schema is replaced: the
 * argument schema by an object without members, the output schema by @usual_output (JSON text of
 * ours). Mistakes are added to the problems. 0 or -ENOMEM. */
int manifest_scope_read_schemas(const struct manifest_scope *scope, uint32_t object,
	const char *usual_output, struct tool *tool);

/* Read the output schema of a tool with rich content: @author (JSON_NONE: none) is the schema of
 * `structured`. Mistakes are added to the problems. 0 or -ENOMEM. */
int manifest_scope_read_content(
	const struct manifest_scope *scope, uint32_t author, struct tool *tool);

/* Read `enabled` of the object at @object, a tool (@tool, its name) or the manifest of the toolbox
 * @toolbox_id (NULL). When it is false, *ret_off gets the reason for leaving it out, which the
 * caller frees. 0 or -ENOMEM. */
int manifest_read_off(const struct json_tape *tape, uint32_t object, const char *toolbox_id,
	const char *tool, char **ret_off);

/* Store the reason for leaving out @tool (NULL: all tools) of @toolbox_id, disabled by its
 * manifest. The caller frees it. 0 or -ENOMEM. */
int manifest_off_reason(const char *toolbox_id, const char *tool, char **ret_off);
