/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Patterns that need no engine: from the start to the end of the text a sequence of characters and
 * classes, each so many times. Most patterns of tools have this shape: ^[0-9]{5}$,
 * ^[a-z][a-z0-9_-]*$, ^v\d+\.\d+$, ^[^@\s]+@[^@\s]+\.[a-z]{2,}$.
 *
 *   ^ [a-z] [a-z0-9-]* $     a set a set of ASCII characters, at least, at most
 *
 * The end of the sequence may be a group that repeats. Then no two possible next items share a
 * character.
 *
 *   ^[a-z]{2,8}(-[a-z0-9]{1,8})*$     ^\d+(?:\.\d+)*$
 *
 * A greedy walk decides where no repeated set shares a character with a possible next set.
 * Otherwise the walk gives characters back, one at a time, and goes on from there, a few times;
 * a longer walk is left to the engine and its bound on steps, as is text beyond ASCII.
 *
 * Without shapes, the check of the medium value of tests/bench/schema takes 0.56 us instead of
 * 0.48, although PCRE2 compiles to machine code. If it may not, as under the shipped unit of
 * systemd (MemoryDenyWriteExecute), the check takes 1.20 us instead of 0.59, and the check of the
 * large value 12.6 us instead of 7.4.
 */
#define SHAPE_ITEMS_MAX   16
#define SHAPE_RETRIES_MAX 64

struct shape_item {
	uint64_t set[2]; /* a set of ASCII characters */
	uint32_t min;
	uint32_t max;
};

struct shape {
	uint32_t count;
	bool is_greedy; /* the first walk decides */
	uint8_t group;  /* the first item of the group that repeats; 0: there is none */
	struct shape_item items[SHAPE_ITEMS_MAX];
	uint16_t takers[256]; /* by byte: a bit for each item whose set has it */
};

enum shape_result {
	SHAPE_DIFFERS,
	SHAPE_MATCHES,
	SHAPE_UNKNOWN, /* ask the engine */
};

/* Whether the valid ECMA-262 pattern @text has such a shape; @ret is written only then. */
bool shape_read(const char *text, size_t size, struct shape *ret);

enum shape_result shape_match(const struct shape *shape, const char *text, size_t size);
