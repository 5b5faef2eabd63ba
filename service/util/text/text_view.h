/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A borrowed text, which may hold U+0000. */
struct text_view {
	const char *text; /* NULL: absent */
	size_t size;
};

/* A view of the NUL-terminated @text_. */
#define TEXT_VIEW(text_) ((struct text_view){(text_), strlen(text_)})

/* Return whether the @size bytes at @bytes (0: may be NULL) are the NUL-terminated @text. */
static inline bool text_is(const char *bytes, size_t size, const char *text)
{
	return size == strlen(text) && (size == 0 || memcmp(bytes, text, size) == 0);
}

/* The same for @view; an absent one is as an empty one. */
static inline bool text_view_is(struct text_view view, const char *text)
{
	return text_is(view.text, view.size, text);
}
