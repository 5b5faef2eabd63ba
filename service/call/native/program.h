/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/native.h"

/*
 * A tool of several calls that share values: the `native` object with `steps`, and `init` of a
 * toolbox. docs/native-program.md has the whole picture.
 *
 *   frame 0          the arguments of the caller
 *   frame 1, 2, …    the call of step 0, 1, …: its parameters, and its returned value
 *   variable         a name: a frame and a parameter of it
 *   source           the origin of the value of a parameter
 */

/* The most steps of a program, of names in it, and of rounds of a repeat. */
#define NATIVE_STEPS_MAX          64
#define NATIVE_NAMES_OF_STEPS_MAX 512
#define NATIVE_ROUNDS_MAX         1000000

/* The most objects and arrays in one another of a result, with what a repeat collects. */
#define NATIVE_RESULT_DEPTH_MAX 32

/* The place of a variable that holds what a repeat has collected. */
#define NATIVE_COLLECTED (-3)

/* A flag in the number of a variable: it is a variable of `init`. */
#define NATIVE_PROCESS 0x10000

enum native_source_kind {
	NATIVE_SOURCE_OWN,       /* as the parameter describes: a constant, an output, a length */
	NATIVE_SOURCE_VALUE,     /* the value of a variable */
	NATIVE_SOURCE_CONVERTED, /* the number of a variable, as another type */
	NATIVE_SOURCE_COUNT,     /* the elements of a variable */
	NATIVE_SOURCE_BYTES,     /* the bytes of a variable */
	NATIVE_SOURCE_OWN_BYTES, /* the capacity in bytes of another parameter of the call */
};

/* The origin of the value of one parameter. */
struct native_source {
	enum native_source_kind kind;
	int from;     /* a variable; for OWN_BYTES a parameter */
	int capacity; /* the variable with the capacity of the buffer; or NATIVE_NONE */
};

/* A function and the sources of its parameters. */
struct native_invocation {
	struct native_function function;
	struct native_source *sources; /* one for each parameter */
	uint32_t place;                /* the token of the object that it was read from */
};

/* A step under it runs only if the variable is neither NULL nor 0 nor empty, or only if it is. */
struct native_condition {
	int variable; /* NATIVE_NONE: it always runs */
	bool is_unless;
};

/* A part of a size: a number or a variable. */
struct native_factor {
	uint64_t number;
	int variable; /* or NATIVE_NONE */
};

/* JSON text with the values of variables between its pieces. */
struct native_piece {
	char *text;   /* owned */
	int variable; /* follows the text; or NATIVE_NONE */
	size_t depth; /* the objects and arrays around it in the whole result */
};

struct native_template {
	struct native_piece *pieces;
	size_t n_pieces;
	size_t depth; /* the most objects and arrays in one another */
};

enum native_operation {
	NATIVE_CALL,
	NATIVE_READ,   /* copies what a handle points at */
	NATIVE_REPEAT, /* a call once a round, and the steps up to `end` after it */
};

struct native_step {
	enum native_operation operation;
	struct native_invocation call; /* a read has the returned value alone */
	struct native_condition condition;
	int round;     /* the repeat of its rounds; or NATIVE_NONE */
	int read_from; /* the handle of a read; else NATIVE_NONE */
	struct native_factor size[NATIVE_FACTORS_MAX]; /* elements of the returned bytes or array */
	size_t n_size;
	struct native_invocation *finally; /* owned; or NULL */
	bool is_always;                    /* the finally of a failed step runs for its handle */
	struct native_invocation *message; /* returns the words of a failure; owned; or NULL */
	int message_variable;              /* has the words; or NATIVE_NONE */
	const struct native_enum *message_table; /* names the returned number (borrowed); or NULL */
	char *words;                             /* the words of each failure; owned; or NULL */
	/* repeat */
	size_t end;                 /* the number of the step after its rounds */
	enum native_errors fitting; /* the values with which a round begins */
	uint64_t fitting_number;
	uint32_t max;
	bool is_cut; /* rounds beyond the most are left out, and the result has `truncated` */
	struct native_template of; /* the element that a round adds */
	char *of_schema;           /* its schema as JSON text; owned */
	int collected;             /* the variable with all elements; or NATIVE_NONE */
};

struct native_variable {
	char *name;
	int frame;
	int at;    /* a parameter, NATIVE_RETURNS or NATIVE_COLLECTED */
	int step;  /* set by it; NATIVE_NONE: an argument */
	int round; /* ends with the rounds of this repeat; or NATIVE_NONE */
	struct native_condition condition;
	bool is_handle;
	bool is_nullable;
	/* A field, `$name.field`, with the frame, the condition and the end of its struct. */
	int owner;                    /* the variable with the struct; NATIVE_NONE: no field */
	size_t offset;                /* bytes before the field in the struct */
	size_t count;                 /* bytes or characters of a field within the struct; or 0 */
	struct native_parameter part; /* the type of the field; all in it is borrowed */
};

struct native_program {
	char *source; /* the JSON text for the host */
	struct native_step *steps;
	size_t n_steps;
	struct native_variable *variables;
	size_t n_variables;
	struct native_template result;
	char *schema; /* the schema of the result, as JSON text */
	bool may_be_cut;
	bool keeps; /* a function of `init` keeps a pointer to memory of the frames */
};

/*
 * Read `parameters`, `steps` and `result` of the native object at @object of @tape, or the array at
 * @object: the `init` of a toolbox. @types are as of native_function_read(). @process is the
 * program of `init`, or NULL. *ret_function gets the parameters for callers, and no symbol. 0 with
 * both owned by the caller, NATIVE_E_REFUSED with the mistake added to @problems, or -ENOMEM.
 */
int native_program_read(const struct json_tape *tape, uint32_t object,
	const struct native_types *types, const struct native_program *process,
	struct native_function *ret_function, struct native_program **ret_program,
	struct diagnostics *problems);

/* Takes NULL. */
void native_program_free(struct native_program *program);

void native_invocation_deinit(struct native_invocation *invocation);
void native_template_deinit(struct native_template *template);

/* Return the type of a variable of @program, or NULL of a collected one. @function has the
 * parameters for callers. */
const struct native_parameter *native_variable_type(const struct native_program *program,
	const struct native_function *function, const struct native_variable *variable);
