/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "util/buffer.h"

/*
 * Append to @out the URI meant by @reference where @base is the base: RFC 3986 section 5.2.2,
 * without its fragment. A base may be empty or relative (a schema without `$id`); an unresolvable
 * reference stays unchanged.
 */
void uri_resolve(struct buffer *out, const char *base, size_t base_size, const char *reference,
	size_t reference_size);

/* The offset of the '#' in @uri, or @size where it has no fragment. */
size_t uri_fragment(const char *uri, size_t size);

/* Append @text with its %XX escapes decoded; a malformed escape stays. */
void uri_decode(struct buffer *out, const char *text, size_t size);
