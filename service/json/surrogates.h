/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Halves of surrogate pairs in the JSON of others. A program cuts a text by UTF-16 units and writes
 * "a\ud83d": the reader refuses this string, the readers of many languages take it.
 */

/* Append @text with the escape of U+FFFD for each escaped half of a surrogate pair. Return whether
 * there is such a half; else nothing is appended. @out records -ENOMEM. */
bool json_mend_surrogates(const char *text, size_t size, struct buffer *out);
