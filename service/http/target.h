/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The target of a request: its path, and the query after `?` (RFC 3986 §3.3, §3.4).
 *
 *   /v1/tools/add?timeout_ms=500&dry_run=1
 *   └──── path ─┘ └─ key=value&key=value ─┘
 *
 * `%41` is the byte 0x41; in a query `+` is a blank. A slash at the end of the path is left out.
 */
struct target {
	struct text_view path;
	struct text_view query; /* size 0: there is none */
};

/* Split the NUL-terminated @text, borrowed by the target. */
struct target target_read(const char *text);

/* If the path of @target has the form of @pattern, where `{}` is any non-empty segment, set
 * *@ret_segment to this segment (still encoded; absent: @pattern has none) and return true. */
bool target_matches(
	const struct target *target, const char *pattern, struct text_view *ret_segment);

/* Append @text decoded to @out. @is_query: `+` is a blank. Return false when a `%` is not followed
 * by two hexadecimal digits, or the result is not UTF-8 or has U+0000. */
bool target_decode(const struct text_view *text, bool is_query, struct buffer *out);

/* Set *@ret_value to the first value of @key in the query, still encoded; absent: no such key. */
void target_find(const struct target *target, const char *key, struct text_view *ret_value);
