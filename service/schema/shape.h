/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Patterns that need no engine: from the start to the end of the text a sequence of characters and
 * classes, each so many times, where a greedy walk without a step back decides. That is what most
 * patterns of tools are: ^[0-9]{5}$, ^[a-z][a-z0-9_-]*$, ^v\d+\.\d+$.
 *
 *   ^ [a-z] [a-z0-9-]* $     a set of ASCII characters, at least, at most
 *
 * The walk never has to give a character back when no set that repeats shares one with what may
 * follow it. Text beyond ASCII is left to the engine.
 */
#define SHAPE_ITEMS_MAX 16

struct shape_item {
	uint64_t set[2]; /* of ASCII characters */
	uint32_t min;
	uint32_t max;
};

struct shape {
	uint32_t count;
	struct shape_item items[SHAPE_ITEMS_MAX];
};

enum shape_result {
	SHAPE_DIFFERS,
	SHAPE_MATCHES,
	SHAPE_UNKNOWN, /* ask the engine */
};

/* Whether the ECMA-262 pattern @text, which is valid, is such a one; @ret is written only then. */
bool shape_read(const char *text, size_t size, struct shape *ret);

enum shape_result shape_match(const struct shape *shape, const char *text, size_t size);
