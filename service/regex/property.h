/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Append what the Unicode property @name of ECMA-262 (section 22.2, table 69 and on: `Letter`,
 * `gc=Lu`, `Script=Greek`, `Alphabetic`) is for PCRE2. @letter is 'p', or 'P' for its opposite.
 * Returns false for an impossible name; whether PCRE2 knows the property shows at the compilation.
 */
bool property_translate(char letter, const char *name, size_t size, struct buffer *out);
