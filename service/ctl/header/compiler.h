/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * The C compiler of this machine, `$CC` or `cc`, for two commands of toolboxctl: `check --header`
 * and `new --from-header`. It only preprocesses and checks; it never writes a program.
 *
 *   --header zlib.h --pkg zlib --cflags -DX      #include <zlib.h>
 *                                                lines of toolboxctl
 *      cc $(pkg-config --cflags zlib) -DX  ◀──── standard input
 */

/* The headers, and the words of the command line for reading them. */
struct compiler {
	const char *const *headers; /* names ("zlib.h") or paths of files */
	size_t n_headers;
	const char *pkg;    /* the name of a package for pkg-config, or NULL */
	const char *cflags; /* further words, separated by white space, or NULL */
};

/* The most bytes of output of a run. */
#define COMPILER_OUTPUT_BYTES_MAX (64u << 20)

/* The most seconds of processor time of each process of a run, and of the run on the clock: it may
 * have to share the processor. */
#define COMPILER_SECONDS_MAX      60
#define COMPILER_WAIT_SECONDS_MAX 300

/* The most bytes of memory of each process of a run. */
#define COMPILER_MEMORY_BYTES_MAX (2ul << 30)

/* Positive results. */
enum compiler_status {
	COMPILER_E_FAILED = 1, /* it ran, and refused the source; or a name cannot be in one */
	COMPILER_E_ABSENT,     /* there is none; or no pkg-config, or not the package */
};

/*
 * Run the compiler with the words @flags ("-E -C") over the headers and then @lines, which may be
 * NULL. Append its output to @output and its messages to @messages. Return 0; an enum
 * compiler_status, with a text for a person in @messages; or a negative errno.
 */
int compiler_run(const struct compiler *compiler, const char *flags, const struct buffer *lines,
	struct buffer *output, struct buffer *messages);

/* Find the file that the header @name of a command line is. Return its path, which is in @path, or
 * NULL for a name that the compiler looks for. */
const char *compiler_find_file(const char *name, char path[PATH_MAX]);

/* Return the line of @messages with the reason of a failure: the first with an error, else the
 * first with words. *ret_size is its bytes. */
const char *compiler_reason(const struct buffer *messages, size_t *ret_size);
