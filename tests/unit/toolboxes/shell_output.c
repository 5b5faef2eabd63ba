/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "output.h"

static struct output output;

static void tear_down(void)
{
	output_free(&output);
}

TestSuite(shell_output, .fini = tear_down);

static void put(const char *bytes, size_t size)
{
	size_t room;
	char *space = output_space(&output, &room);

	cr_assert(space && room >= size);
	memcpy(space, bytes, size);
	output_added(&output, size);
}

/* Expect @n unread characters, and the first @max of them to be @shown. */
static void expect_first(bool is_whole, size_t max, size_t n, const char *shown)
{
	struct text text = {0};
	size_t size;
	size_t left;

	cr_expect_eq(output_count(&output, is_whole, max, &size, &left), n);
	cr_expect_eq(left, n > max ? n - max : 0);
	output_show(&output, size, &text);
	cr_expect_str_eq(text_string(&text), shown);
	output_forget(&output, size);
	text_free(&text);
}

Test(shell_output, is_taken_from_where_the_last_answer_ended)
{
	expect_first(true, 4, 0, "");
	put("abcdef", 6);
	expect_first(false, 4, 6, "abcd");
	put("gh", 2);
	expect_first(false, 4, 4, "efgh");
	cr_expect_eq(output_unread(&output), 0);
}

Test(shell_output, counts_characters_and_keeps_them_whole)
{
	put("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98", 8);
	expect_first(false, 1, 2, "\xC3\xA9");
	expect_first(false, 9, 1, "\xE2\x82\xAC");
	put("\x80!", 2);
	expect_first(false, 9, 2, "\xF0\x9F\x98\x80!");
}

Test(shell_output, shows_bytes_that_are_not_text)
{
	put("a\xFF\xC3", 3);
	expect_first(false, 9, 2, "a\xEF\xBF\xBD");
	expect_first(true, 9, 1, "\xEF\xBF\xBD");
}

Test(shell_output, is_bounded_but_for_our_own_words)
{
	size_t room;

	while (output_space(&output, &room))
		output_added(&output, room);
	cr_expect_eq(output_unread(&output), OUTPUT_UNREAD_MAX);
	output_note(&output, "full");
	cr_expect_eq(output_unread(&output), OUTPUT_UNREAD_MAX + 4);
	output_forget(&output, OUTPUT_UNREAD_MAX);
	expect_first(true, 9, 4, "full");
	put("on", 2);
	expect_first(true, 9, 2, "on");
}
