/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "json/reader.h"
#include "manifest/problem.h"

/* What every tool of a manifest shares. */
struct manifest_scope {
	const struct json_tape *tape;
	struct toolbox *toolbox;
	const char *folder; /* the manifest's real one */
	struct schema_options schema_options;
	struct schema_context *context; /* for checking examples */
	struct problems *problems;
};

/* Read the tool entry at @object (its shape is checked already) into the zeroed @tool. Mistakes are
 * added to the problems. 0 or -ENOMEM. */
int manifest_tool_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool);

/* Return whether the @size bytes at @name can be a tool's name (contract.md, Names):
 * [A-Za-z_][A-Za-z0-9_-]{0,63} */
bool manifest_is_tool_name(const char *name, size_t size);

/* The risk that the string at @token names; the shape was checked. */
enum tool_risk manifest_risk(const struct json_tape *tape, uint32_t token);

/* Read the schemas of the tool entry at @object: those that are given, else an object without
 * members for the arguments, and @usual_output (JSON text, ours) for the result. As
 * manifest_tool_read(). */
int manifest_read_schemas(const struct manifest_scope *scope, uint32_t object,
	const char *usual_output, struct tool *tool);

/* Compile the schema that the manifest gives at @token, where it stands, so that mistakes have
 * their line; *ret_text is its compact text, the caller's. What is wrong with it is a problem, and
 * both stay NULL. 0 or -ENOMEM. */
int manifest_compile_given(const struct manifest_scope *scope, uint32_t token,
	struct schema **ret_schema, char **ret_text);
