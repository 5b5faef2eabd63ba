/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"
#include "util/text/text_list.h"

/*
 * How a program is run: the `command` object of a tool (contract.md, Command).
 *
 *   {"argv": ["rg", "-i{ignore_case?}", ["-m", "{most}"], "--", "{pattern}", "{files...}"],
 *    "success": [0, 1], "output": "text", "cwd": "/usr", "env": {"K": "V"}}
 *   {"shell": "df -h \"$TOOL_ARG_PATH\""}
 *
 * An element of `argv` after the first one is a template, or a group of templates:
 *
 *   --name={name}        filled in inside the element: never split, never seen by a shell
 *   ["-m", "{most}"]     a group is left out whole; so is an element, which is a group of one
 *   -i{ignore_case?}     nothing, but the group is left out if the argument is false, too
 *   ["-e", "{words...}"] the group is there once for each element of the array
 *   {{name}              a brace that means itself
 *   { print $1 }         so does one that no NAME} follows
 *
 * Both sides of the process boundary read this same object with this same code: the daemon to check
 * it and the arguments, the host to run it.
 */

enum command_output {
	COMMAND_TEXT,       /* stdout is the result's "output" */
	COMMAND_JSON,       /* stdout is the result */
	COMMAND_JSON_LINES, /* stdout is the elements of the result's "output" */
	COMMAND_CONTENT,    /* stdout is the result, rich content */
};

/* The longest value passed as text, and the longest element. Linux takes 128 KiB. */
#define COMMAND_VALUE_BYTES_MAX (100u << 10)

/* Elements of an argv, with the elements of groups. */
#define COMMAND_ARGUMENTS_MAX 256

/* Arguments of an argv as parts of its program. */
#define COMMAND_SCRIPTS_MAX 4

/* Exit statuses are less. */
#define COMMAND_STATUSES 256

/* A set of numbers below 256. */
struct command_set {
	uint64_t bits[4];
};

static inline bool command_set_has(const struct command_set *set, size_t number)
{
	return set->bits[number / 64] >> (number % 64) & 1;
}

static inline void command_set_add(struct command_set *set, size_t number)
{
	set->bits[number / 64] |= UINT64_C(1) << (number % 64);
}

/* The variables of a program together. */
#define COMMAND_ENVIRONMENT_BYTES_MAX (64u << 10)

struct command {
	struct text_list arguments; /* the program, as it is; then templates, unless it is a
				     * shell's */
	bool is_shell;              /* sh -c LINE, nothing of which is a template */
	struct command_set joined;  /* arguments that are in one group with the argument before */
	struct command_set
		scripts; /* arguments that are scripts: programs, too; set by the daemon, at most
				     * COMMAND_SCRIPTS_MAX */
	struct command_set success; /* exit statuses of success */
	enum command_output output;
	char *cwd;         /* its working folder */
	char *environment; /* its own variables (util/environment.h); NULL: none */
};

enum command_status {
	COMMAND_E_MALFORMED = 1, /* not of the form above; the mistake has the expected form */
};

/* The place in the object, and the expected value. */
struct command_mistake {
	uint32_t token;
	const char *expected; /* a constant: "must be …" */
};

/* Read the object at @object. Everything is copied. 0 with *ret_command owned by the caller
 * (command_deinit), COMMAND_E_MALFORMED with @ret_mistake filled, or -ENOMEM. */
int command_read(const struct json_tape *tape, uint32_t object, struct command *ret_command,
	struct command_mistake *ret_mistake);

void command_deinit(struct command *command);

/* Append to @environment (kept NUL-ended) the members of the object at @object with new names. 0,
 * COMMAND_E_MALFORMED with @ret_mistake filled, or -ENOMEM. */
int command_read_environment(const struct json_tape *tape, uint32_t object,
	struct buffer *environment, struct command_mistake *ret_mistake);

/* Append the object for command_read(), with @name (its tool's) as a further member and without the
 * variables named in @overridden (may be NULL), too. */
void command_write(const struct command *command, const char *name, const char *overridden,
	struct buffer *out);

enum command_piece_kind {
	COMMAND_LITERAL,
	COMMAND_VALUE,     /* {name}: the value of the argument */
	COMMAND_CONDITION, /* {name?}: nothing, unless the argument is false */
	COMMAND_ELEMENT,   /* {name...}: one element of the argument at a time */
};

/* A stretch of a template: literal bytes, or the name of an argument. */
struct command_piece {
	const char *text; /* into the template */
	size_t size;
	enum command_piece_kind kind;
};

/* Take the next piece at *template, and move *template after it. Return false at the end. */
bool command_next_piece(const char **template, struct command_piece *ret_piece);

/* Return the index after the last argument of the group at @first. */
size_t command_group_end(const struct command *command, size_t first);

/* Return whether an argument with the value at @value, or without one (JSON_NONE), counts as
 * absent: callers whose schema requires an optional member send null. */
bool command_is_absent(const struct json_tape *tape, uint32_t value);

/* Whether the value at @value can be passed as text: without U+0000, and not too long. NULL when it
 * can, else a constant text: "must …". */
const char *command_refusal(const struct json_tape *tape, uint32_t value);

/* Among the members of the object at @object, from the key @key on, find the first one with a
 * placeholder and a value that cannot be passed. Return its key, with the reason in *ret_message;
 * the end of the object without such a member. */
uint32_t command_next_refused(const struct command *command, const struct json_tape *tape,
	uint32_t object, uint32_t key, const char **ret_message);

/* Append what an argument is as text: a string itself, anything else its compact JSON. */
void command_write_value(const struct json_tape *tape, uint32_t value, struct buffer *out);

/* Write the path of the file named by the argument @index: absolute, or from the working folder.
 * Return false for a path with placeholders, or too long. */
bool command_script_path(const struct command *command, size_t index, char ret_path[PATH_MAX]);

/* Find the program: by its path, or in the PATH of its environment or else of this process. 0 with
 * its path, or the negative errno of the best candidate (-ENOENT: no candidate). */
int command_find_program(const struct command *command, char ret_path[PATH_MAX]);
