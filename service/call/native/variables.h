/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/program.h"
#include "call/native/reading.h"

/*
 * The reading of a program, and the names in it: a name is set once, before each use on every way
 * to it, and a handle does not leave the tool.
 */
struct program_reading {
	struct reading reading;
	struct native_program *program;
	const struct native_function *function;  /* the parameters for callers */
	const struct native_program *process;    /* the program of `init`; or NULL */
	uint32_t steps;                          /* the array of steps */
	bool is_init;                            /* the program is `init` itself */
	int step;                                /* the step being read; NATIVE_NONE: none */
	int round;                               /* the repeat of its rounds; or NATIVE_NONE */
	struct native_condition condition;       /* condition of the step */
	struct native_condition round_condition; /* condition of the repeat */
};

/* Find the variable named by the string at @token: `$name`, `$$name` of `init` or `$name.field` of
 * a struct. Check that the step being read may use it. */
int variables_find(struct program_reading *reading, uint32_t token, int *ret_variable);

/* The same for a part of the result at @token, where `$$` is no name: callers may see the value. */
int variables_find_result(struct program_reading *reading, uint32_t token, int *ret_variable);

/* Set the variable with the name at @token and all else of @variable. */
int variables_add(
	struct program_reading *reading, uint32_t token, const struct native_variable *variable);

/* Return the variable with the number @variable. */
const struct native_variable *variables_at(const struct program_reading *reading, int variable);

/* Return whether the variable, or the struct of which it is a field, is of `init`. */
bool variables_is_process(const struct program_reading *reading, int variable);

/* Return the type of the variable @variable; NULL: it is what a repeat has collected. */
const struct native_parameter *variables_type(const struct program_reading *reading, int variable);

/* Read `when` or `unless` of the step at @object. */
int variables_read_condition(
	struct program_reading *reading, uint32_t object, struct native_condition *ret_condition);
