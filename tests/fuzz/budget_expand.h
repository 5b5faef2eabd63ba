/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Long texts from short ones, so that a few bytes of a corpus are a costly case. Control
 * characters, which no JSON text has, are commands:
 *
 *   \x01 DIGIT text \x02   the text, 4^DIGIT times; may be nested
 *   \x03                   the number of the innermost repetition, from 0 on
 *   \x04                   that number plus one
 *
 *   "[\x01" "7\x03,\x02" "0]"     ▶  [0,1,2, … 16383,0]
 */

/* Append the expansion of @size bytes at @text to @out. False when it is larger than @most. */
bool budget_expand(const char *text, size_t size, size_t most, struct buffer *out);
