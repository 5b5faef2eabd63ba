/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/* Translate the ECMA-262 pattern of @size bytes of UTF-8 at @text for PCRE2 and append the result,
 * which has callouts for regex_match(), to @out. Return false, with @ret_reason a constant, for
 * syntax that ECMA-262 (section 22.2, flag u) does not have. Some foreign syntax passes; PCRE2
 * refuses it. */
bool regex_translate(const char *text, size_t size, struct buffer *out, const char **ret_reason);
