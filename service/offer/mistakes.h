/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "offer/problems.h"
#include "util/buffer.h"

/*
 * The mistakes of the configuration, as it was read last: in the log once, and in the answers to
 * status and reload requests as long as they are there.
 */
struct mistakes {
	struct problems problems; /* errors and warnings, for the log */
	struct buffer json;       /* the errors, for the answers: an unclosed array */
	unsigned int n;           /* errors */
	bool was_wrong;           /* there were errors when it was read the time before */
};

/* The configuration is about to be read. */
void mistakes_begin(struct mistakes *mistakes);

/* Take a mistake. A diagnostic_function: @data is a struct mistakes. */
void mistakes_take(void *data, const struct diagnostic *diagnostic);

/* The configuration was read. */
void mistakes_end(struct mistakes *mistakes);

/* Return whether there are errors. */
static inline bool mistakes_exist(const struct mistakes *mistakes)
{
	return mistakes->json.size > 0;
}

/* Append the errors, at least one, to @out: [{"file": …, "line": …, "path": …, "error": …}, …],
 * file and line null for an error outside of the files. */
void mistakes_write(const struct mistakes *mistakes, struct buffer *out);

/* Free the memory of @mistakes. */
void mistakes_deinit(struct mistakes *mistakes);
