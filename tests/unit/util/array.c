/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

/* The module with memory that can run out. */
static bool has_memory = true;

static void *limited_reallocarray(void *block, size_t n, size_t size)
{
	return has_memory ? reallocarray(block, n, size) : NULL;
}

#define reallocarray limited_reallocarray
#include "util/array.h"
#undef reallocarray

static int append(int **items, size_t *n, int value)
{
	if (array_grow(*items, *n) < 0)
		return -ENOMEM;
	(*items)[(*n)++] = value;
	return 0;
}

Test(array, holds_what_was_appended)
{
	int *items = NULL;
	size_t n = 0;

	for (int i = 0; i < 1000; i++)
		cr_assert_eq(append(&items, &n, i), 0);
	for (int i = 0; i < 1000; i++)
		cr_expect_eq(items[i], i);
	free(items);
}

Test(array, grows_again_after_elements_were_dropped)
{
	int *items = NULL;
	size_t n = 0;

	for (size_t kept = 0; kept < 40; kept++) {
		for (int i = (int)n; i < 70; i++)
			cr_assert_eq(append(&items, &n, i), 0);
		n = kept;
		cr_assert_eq(append(&items, &n, (int)kept), 0);
	}
	for (int i = 0; i < 40; i++)
		cr_expect_eq(items[i], i);
	free(items);
}

Test(array, stays_as_it_was_when_memory_is_short)
{
	int *items = NULL;
	size_t n = 0;

	cr_assert_eq(append(&items, &n, 7), 0);
	has_memory = false;
	cr_expect_eq(append(&items, &n, 8), -ENOMEM);
	cr_expect_eq(n, 1);
	cr_expect_eq(items[0], 7);
	free(items);
}
