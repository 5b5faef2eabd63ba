/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "ctl/command.h"

/*
 * Calls to try, one on each line of a file NAME.calls:
 *
 *   count_words text='to be or not to be' -> {"words": 6}      gives a result equal to this JSON
 *   repeat {"text": "bat", "times": -1} -> error invalid_arguments
 *   greet name=Ada                                             gives any result
 *   # a comment, and empty lines
 *
 * The arguments are words as for `invoke`, or one JSON object. '…' keeps what is between the quotes
 * as it is; in "…" a backslash makes \n, \t, \" and \\.
 */

/* The most bytes of a file, and words of a line. */
#define CALLS_FILE_BYTES_MAX (1u << 20)
#define CALLS_WORDS_MAX      256

enum calls_expectation {
	CALLS_ANY,    /* a result */
	CALLS_RESULT, /* the result `expected`: JSON text */
	CALLS_ERROR,  /* the error with the code `expected` */
};

struct calls_line {
	unsigned int number;      /* from 1 */
	const char *tool;         /* TOOL or TOOLBOX/TOOL */
	const char *const *words; /* the arguments */
	size_t n_words;
	const char *object; /* the arguments as JSON text; NULL: they are the words */
	enum calls_expectation expectation;
	const char *expected; /* NULL for CALLS_ANY */
};

/* Take a line, valid until the return. Return 0, or an enum ctl_status to end the reading. */
typedef int (*calls_function)(void *data, const struct calls_line *line);

/* Call @take for each call in the file at @path. Return 0, what @take returned, or CTL_USAGE after
 * a complaint about the file or a line. */
int calls_file_read(const char *path, calls_function take, void *data);
