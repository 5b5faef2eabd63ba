/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/text_list.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(text_list, holds_copies_and_what_it_has_taken)
{
	struct text_list list = {0};
	char text[] = "one";

	cr_expect_eq(text_list_add(&list, text), 0);
	text[0] = 'x';
	cr_expect_eq(text_list_take(&list, strdup("two")), 0);
	cr_assert_eq(list.n_items, 2);
	cr_expect_str_eq(list.items[0], "one");
	cr_expect_str_eq(list.items[1], "two");
	text_list_deinit(&list);
	cr_expect_eq(list.n_items, 0);
	text_list_deinit(&list);
}

Test(text_list, has_no_place_for_a_text_without_memory)
{
	struct text_list list = {0};

	cr_expect_eq(text_list_take(&list, NULL), -ENOMEM);
	cr_expect_eq(list.n_items, 0);
	text_list_deinit(&list);
}

Test(text_list, is_written_within_bounds)
{
	struct text_list list = {0};
	struct buffer out = {0};

	text_list_write(&list, 100, &out);
	cr_expect_eq(out.size, 0);
	for (int i = 0; i < 9; i++)
		cr_assert_eq(text_list_add(&list, i < 2 ? "one" : "more"), 0);
	text_list_write(&list, 100, &out);
	cr_expect_str_eq(
		buffer_terminate(&out), ": one, one, more, more, more, more, more, more, more");
	buffer_reset(&out);
	text_list_write(&list, 12, &out);
	cr_expect_str_eq(buffer_terminate(&out), ": one, one and 7 more");
	buffer_reset(&out);
	text_list_write(&list, 2, &out);
	cr_expect_str_eq(buffer_terminate(&out), ": 9 more");
	buffer_deinit(&out);
	text_list_deinit(&list);
}
