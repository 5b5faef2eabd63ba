/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/command.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * The argv and the environment of a program for one call.
 *
 *   template   --name={name}      {"name": "O'Neill", "tags": ["a"]}      TOOL_ARG_NAME=O'Neill
 *                  └──────────────▶ --name=O'Neill            └─────────▶ TOOL_ARG_TAGS=["a"]
 *
 * A group of argv is left out if it has a placeholder without an argument; null counts as absent.
 * An argument that cannot be a variable (it is null, contains U+0000, is too long, or its name is
 * unsuitable) is left out of the environment. The JSON on stdin has all of them.
 */
struct command_fill {
	char **arguments; /* NULL-terminated, pointing into the texts */
	char **environment;
	struct buffer argument_text; /* NUL-terminated texts, one after the other */
	struct buffer environment_text;
	struct buffer pointers;
	struct json_tape caller;
	struct buffer scratch;
};

/* Most bytes of all TOOL_ARG_ variables together; the others are left out. Linux accepts 2 MiB,
 * argv included, at the usual size of the stack. */
#define COMMAND_VARIABLES_BYTES_MAX (512u << 10)

/* Fill in the arguments at the object @object. @fixed is the environment of every call of the tool;
 * @caller is as in struct driver_call. Return 0 or -ENOMEM. */
int command_fill(struct command_fill *fill, const struct command *command, const char *fixed,
	const char *caller, size_t caller_size, const struct json_tape *tape, uint32_t object);

/* Return the environment of every call of the tool @name: the command's own variables, then this
 * process's, then TOOL_NAME and TOOL_PROGRESS_FD. The caller frees it; NULL when memory is
 * short. */
char *command_fill_fixed(const struct command *command, const char *name);

/* Free buffers that grew large. */
void command_fill_trim(struct command_fill *fill);

void command_fill_deinit(struct command_fill *fill);
