/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <string.h>

/* A borrowed text, which may hold U+0000. */
struct text_view {
	const char *text; /* NULL: absent */
	size_t size;
};

/* A view of the NUL-terminated @text_. */
#define TEXT_VIEW(text_) ((struct text_view){(text_), strlen(text_)})
