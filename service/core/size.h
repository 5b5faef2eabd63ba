/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * The size guard (contract.md, Size of results): no result and no error text floods a caller, often
 * a model that pays by the character. Lengths are code points of UTF-8.
 */

/* Append the JSON text @result, or, when it is longer than @max code points, the object that tells
 * that it was cut, with its head. Returns whether it was cut. */
bool size_write_result(struct buffer *out, const char *result, size_t size, uint32_t max);

/* The most bytes of the UTF-8 @text that hold at most @max code points. */
size_t size_cut_text(const char *text, size_t size, uint32_t max);
