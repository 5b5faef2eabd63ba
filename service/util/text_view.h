/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* A borrowed text, which may hold U+0000. */
struct text_view {
	const char *text; /* NULL: absent */
	size_t size;
};
