/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/header/ctype.h"

/* A function of a header, and all declarations of a header. */

struct c_function {
	const char *name;
	const struct c_type *type; /* FUNCTION */
	const char *file;
	uint32_t file_number; /* its index in the tokens */
	unsigned int line;
	uint32_t comment;       /* the comment before it, or C_COMMENT_NONE */
	uint32_t comment_after; /* the first comment after it, or C_COMMENT_NONE */
	bool is_static;
	bool is_deprecated;
};

struct c_block;

struct c_declarations {
	struct c_block *blocks;        /* the memory of all below */
	void *names;                   /* a tree of tsearch(3) */
	struct c_function **functions; /* in the header's order */
	size_t n_functions;
	size_t n_skipped; /* number of declarations not understood */
};
