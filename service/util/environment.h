/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Variables for a process as one text: each "NAME=value" and its NUL, and behind the last one more
 * NUL. NULL means none.
 *
 *   │T│Z│=│U│T│C│\0│L│A│N│G│=│C│\0│\0│
 */

/* Bytes of the text, its last NUL included. */
size_t environment_size(const char *environment);

/* Variables in it. */
size_t environment_count(const char *environment);

/* Whether a variable of it has the same name as @entry, a "NAME=value". */
bool environment_names(const char *environment, const char *entry);

/* An order of environments: 0 for two that are the same, variable by variable. */
int environment_compare(const char *left, const char *right);

/* A copy that the caller frees; NULL for none. 0 or -ENOMEM. */
int environment_copy(const char *environment, char **ret_copy);

/* The variable behind @entry; at the end, an empty one. */
static inline const char *environment_next(const char *entry)
{
	while (*entry++)
		;
	return entry;
}
