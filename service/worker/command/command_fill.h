/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/command.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * What a program is passed for one call: its argv and its environment.
 *
 *   template   --name={name}      {"name": "O'Neill", "tags": ["a"]}      TOOL_ARG_NAME=O'Neill
 *                  └──────────────▶ --name=O'Neill            └─────────▶ TOOL_ARG_TAGS=["a"]
 *
 * An element with a placeholder for which there is no argument is left out whole. An argument that
 * cannot be a variable (U+0000, too long, its name too odd) is none: all of them are in the JSON on
 * stdin.
 */
struct command_fill {
	char **arguments; /* NULL-ended, into the texts */
	char **environment;
	struct buffer argument_text; /* one NUL-ended text behind the other */
	struct buffer environment_text;
	struct buffer pointers;
	struct json_tape caller;
	struct buffer scratch;
};

/* The TOOL_ARG_ variables together; those behind are left out. Linux takes 2 MiB, with the argv, at
 * the usual size of the stack. */
#define COMMAND_VARIABLES_BYTES_MAX (512u << 10)

/* Fill in the arguments at the object @object. @fixed is what every call of the tool has in its
 * environment; @caller as struct driver_call has it. 0 or -ENOMEM. */
int command_fill(struct command_fill *fill, const struct command *command, const char *fixed,
	const char *caller, size_t caller_size, const struct json_tape *tape, uint32_t object);

/* What every call of the tool @name has in its environment: the command's own variables, then this
 * process's, then TOOL_NAME. The caller frees it; NULL without memory. */
char *command_fill_fixed(const struct command *command, const char *name);

/* Give back what grew large. */
void command_fill_trim(struct command_fill *fill);

void command_fill_deinit(struct command_fill *fill);
