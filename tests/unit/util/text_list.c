/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/text_list.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "util/cleanup.h"

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
	cleanup(text_list_deinit) struct text_list list = {0};

	cr_expect_eq(text_list_take(&list, NULL), -ENOMEM);
	cr_expect_eq(list.n_items, 0);
}

Test(text_list, is_written_within_bounds)
{
	cleanup(text_list_deinit) struct text_list list = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

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
}

Test(text_list, has_a_text_as_a_whole_only)
{
	cleanup(text_list_deinit) struct text_list list = {0};

	cr_expect_not(text_list_has(&list, ""));
	cr_assert_eq(text_list_add(&list, "one"), 0);
	cr_assert_eq(text_list_add(&list, "Two"), 0);
	cr_expect(text_list_has(&list, "one"));
	cr_expect(text_list_has(&list, "Two"));
	cr_expect_not(text_list_has(&list, "on"));
	cr_expect_not(text_list_has(&list, "ones"));
	cr_expect_not(text_list_has(&list, "two"));
	cr_expect_not(text_list_has(&list, ""));
}

Test(text_list, keeps_its_order_when_a_text_is_removed)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	for (size_t gone = 0; gone < 4; gone++) {
		cleanup(text_list_deinit) struct text_list list = {0};
		size_t n = 0;

		for (size_t i = 0; i < 4; i++)
			cr_assert_eq(text_list_add(&list, names[i]), 0);
		text_list_remove(&list, gone);
		cr_assert_eq(list.n_items, 3);
		for (size_t i = 0; i < 4; i++)
			if (i != gone)
				cr_expect_str_eq(list.items[n++], names[i]);
	}
}

Test(text_list, is_unchanged_when_memory_for_one_more_is_short)
{
	for (size_t n = 0; n < 40; n++) {
		cleanup(text_list_deinit) struct text_list list = {0};
		size_t added = 0;
		int r = 0;

		cr_assert(scarce_once_after(n));
		while (r == 0 && added < 40) {
			r = text_list_add(&list, "text");
			added += r == 0;
		}
		if (scarce_has_failed())
			cr_expect_eq(r, -ENOMEM);
		cr_expect_eq(list.n_items, added, "after %zu", n);
		for (size_t i = 0; i < list.n_items; i++)
			cr_expect_str_eq(list.items[i], "text");
	}
}

Test(text_list, frees_a_text_that_it_has_no_room_for)
{
	cleanup(text_list_deinit) struct text_list list = {0};
	char *text = strdup("given");

	cr_assert(scarce_once_after(0));
	cr_expect_eq(text_list_take(&list, text), -ENOMEM, "the sanitizer watches the text");
	cr_expect(scarce_has_failed());
	cr_expect_eq(list.n_items, 0);
}
