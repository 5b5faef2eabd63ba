/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Return whether @pattern means the whole @text: `*` is any run of bytes, also an empty run, and
 * every other byte is itself. The work is at most the product of both sizes. */
bool glob_matches(const char *pattern, size_t pattern_size, const char *text, size_t text_size);
