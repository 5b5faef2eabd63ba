/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/text/text_view.h"

/*
 * Language tags (BCP 47), and the lookup of the best one (RFC 4647 §3.4): a wanted tag is tried
 * whole, then without its last subtag, and so on.
 *
 *   de-AT-x-home ─▶ de-AT-x-home, de-AT, de
 */

/* Return @tag without its last subtag, and without a single character before that; absent when no
 * subtag is left. */
struct text_view language_tag_shorten(struct text_view tag);

/* Return whether @tag and the @size bytes at @text are one tag: upper and lower case of ASCII are
 * the same. */
bool language_tag_equals(struct text_view tag, const char *text, size_t size);
