/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Calls of a toolbox, each a row, through one real host. */
struct row {
	const char *tool;
	const char *arguments;
	const char *answer; /* the result, or the words of failure */
};

/* Each of the rows gives exactly its answer, and all of them are failures or none is. */
void rows_expect(const char *toolbox, const struct row *rows, size_t count, bool are_failures);
