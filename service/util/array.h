/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <stdlib.h>

/* The number of elements of @array, not a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/*
 * Arrays that grow by one element at a time: a pointer and a count, no capacity.
 *
 * The capacity follows from the count: it is the next power of two. So the block is enlarged only
 * when the count is zero or a power of two, and n appended elements are copied O(n) times in all.
 * An array whose count has fallen may be enlarged earlier than it must be, never too late.
 *
 *     if (array_grow(names, n_names) < 0)
 *             return -ENOMEM;
 *     names[n_names++] = take_ptr(name);
 */

/* Make room for one more element in @items, an array of @n elements, grown by this macro alone.
 * Return 0, or -ENOMEM with @items unchanged. The owner of @items frees it with free(). */
#define array_grow(items, n)                                                                       \
	({                                                                                         \
		__typeof__(items) grown_items = array_grown(items, n, sizeof(*(items)));           \
		if (grown_items)                                                                   \
			(items) = grown_items;                                                     \
		grown_items ? 0 : -ENOMEM;                                                         \
	})

/* Return @items with room for @n + 1 elements of @size bytes, or NULL when memory is short. */
static inline void *array_grown(void *items, size_t n, size_t size)
{
	if (n == 0)
		return items ? items : malloc(size);
	return n & (n - 1) ? items : reallocarray(items, n, 2 * size);
}
