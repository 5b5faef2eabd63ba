/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Halves of surrogate pairs in the JSON of others. A program that cuts a text by UTF-16 units
 * writes "a\ud83d", which the reader refuses, and the readers of many languages take.
 */

/* Append @text with the escape of U+FFFD for each escape that is half a pair of surrogates. Return
 * whether there is one; else nothing is appended. @out records -ENOMEM. */
bool json_mend_surrogates(const char *text, size_t size, struct buffer *out);
