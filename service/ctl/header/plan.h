/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/header/gir.h"
#include "ctl/header/header.h"

/*
 * A plan: the tool for one function of a header. Its caller gives some values, some come back, and
 * other functions have to be called before and after.
 *
 *   int sqlite3_changes(sqlite3 *db)
 *
 *       calls[0]   sqlite3_open(filename, ──▶ handle)      a constructor of sqlite3
 *       calls[1]   sqlite3_changes(handle) ──▶ result
 *       at the end sqlite3_close(handle)                   its destructor
 *
 * A header has no word about the size of a buffer, or about the owner of a text: such a guess is a
 * question in the plan. A function without a plan has a reason.
 */

#define PLAN_CALLS_MAX     8
#define PLAN_ARGUMENTS_MAX 24
#define PLAN_NAME_BYTES    80

/* The most functions that are looked at for all plans of a header: a few seconds. */
#define PLAN_LOOKS_MAX 100000000

/* The capacity of a buffer of unknown size. */
#define PLAN_CAPACITY 65536

enum plan_kind {
	PLAN_GIVEN,  /* the caller gives it */
	PLAN_LENGTH, /* the length of the buffer @of */
	PLAN_OUT,
	PLAN_INOUT,
	PLAN_HANDLE, /* an earlier value, by @name */
	PLAN_MEMORY, /* memory of @size bytes for a struct */
	PLAN_TEXT,   /* a constant text */
};

struct plan_argument {
	enum plan_kind kind;
	char name[PLAN_NAME_BYTES];
	const char *word;  /* the type in the manifest */
	const char *items; /* array: type of its elements */
	const struct c_record *enumeration;
	const char *question;   /* or NULL */
	const char *text;       /* TEXT */
	const struct c_type *c; /* MEMORY: the type in C */
	uint64_t size;          /* MEMORY */
	size_t of;              /* LENGTH: the index of the buffer */
	bool is_pointer;        /* LENGTH: `inout` */
	bool is_owned;          /* a text of ours: `free_symbol` frees it */
	bool is_nullable;
	bool has_size;           /* OUT, by address: @of is the argument with the size */
	const char *free_symbol; /* or NULL: the default of the manifest */
	const char *description; /* or NULL: the header's comment */
	bool is_handed;          /* OUT: a text by the address of a pointer */
};

struct plan_call {
	const struct c_function *function;
	struct plan_argument arguments[PLAN_ARGUMENTS_MAX];
	size_t n_arguments;
	struct plan_argument returned; /* @word NULL: nothing */
	const char *description;       /* or NULL: the header's comment */
	bool throws;                   /* a GError ** follows the arguments */
	size_t size_from; /* argument with the size of returned bytes; or PLAN_ARGUMENTS_MAX */
	const struct c_function *last; /* the destructor of @last_of, or NULL */
	char last_of[PLAN_NAME_BYTES];
};

struct plan {
	struct plan_call calls[PLAN_CALLS_MAX]; /* the function itself is the last one */
	size_t n_calls;
	char reason[160]; /* why there is no plan; or "" */
};

/* All plans of a header share this. */
struct planner {
	const struct header *header;
	/* Return whether a tool may call the function: the library has it. */
	bool (*is_there)(void *data, const struct c_function *function);
	void *data;
	const struct gir *gir; /* or NULL */
	uint64_t n_looks;      /* functions looked at for constructors and destructors */
};

/* Make the plan of @function. Return whether there is one; else plan->reason is set. */
bool plan_make(struct planner *planner, const struct c_function *function, struct plan *plan);

/* Return whether the plan takes more than one function with plain values. */
bool plan_needs_steps(const struct plan *plan);
