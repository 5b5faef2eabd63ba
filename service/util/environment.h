/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The environment variables of a process as one text: "NAME=value" and a NUL for each, and one more
 * NUL at the end. NULL means none.
 *
 *   │T│Z│=│U│T│C│\0│L│A│N│G│=│C│\0│\0│
 */

/* Return the bytes of the text, its last NUL included. */
size_t environment_size(const char *environment);

/* Return the number of variables. */
size_t environment_count(const char *environment);

/* Return whether @environment has a variable of the same name as @entry, a "NAME=value". */
bool environment_names(const char *environment, const char *entry);

/* Order two environments; 0 if they are equal, variable by variable. */
int environment_compare(const char *left, const char *right);

/* Copy @environment; the caller frees the copy, which is NULL for NULL. Return 0 or -ENOMEM. */
int environment_copy(const char *environment, char **ret_copy);

/* Return the locale for characters by the environment of this process: LC_ALL, else LC_CTYPE, else
 * LANG; NULL when none is given. */
const char *environment_locale(void);

/* Return the variable after @entry; after the last one, an empty one. */
static inline const char *environment_next(const char *entry)
{
	while (*entry++)
		;
	return entry;
}
