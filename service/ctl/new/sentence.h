/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

/*
 * Read a sample of an intent of OVOS (OVOS-INTENT-1, sentence templates) as one sentence:
 *
 *   (can|could) you count [slowly] to {number:n}  ──▶  can you count to {n}     slots: n
 *
 * The first alternative of a group stays, what is optional is left out, a slot stays without its
 * type. Append the sentence to @out, and the names of its slots to @slots, each once, with a space
 * between two. Return false for a sample that is not well-formed, or a slot with other characters
 * than letters, digits and '_', or a digit first; the buffers then have a part of it.
 */
bool new_read_sample(const char *text, size_t size, struct buffer *out, struct buffer *slots);
