/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The regular expressions that the generator writes into schemas. patterns_match() has the meaning
 * of each, written by hand. The last is NULL. */
extern const char *const patterns[];

/* Whether @size bytes at @text match the @which'th of them. */
bool patterns_match(int which, const char *text, size_t size);
