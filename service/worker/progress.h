/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Append the PROGRESS frame of the call @id: @value from 0 to 1 (any other number: unknown), and
 * @text, any bytes (NULL: none). */
void progress_append(
	struct buffer *out, uint64_t id, double value, const char *text, size_t text_size);
