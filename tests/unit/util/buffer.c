/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The module compiled once more, with memory that can run out. */
static bool has_memory = true;

static void *limited_realloc(void *block, size_t size)
{
	return has_memory ? realloc(block, size) : NULL;
}

#define realloc          limited_realloc
#define buffer_deinit    limited_deinit
#define buffer_reset     limited_reset
#define buffer_recycle   limited_recycle
#define buffer_reserve   limited_reserve
#define buffer_vprintf   limited_vprintf
#define buffer_printf    limited_printf
#define buffer_terminate limited_terminate
#define buffer_take      limited_take
/* NOLINTNEXTLINE(bugprone-suspicious-include): the source itself, with memory that is short */
#include "util/buffer.c"
#undef realloc

Test(buffer, is_empty_when_zeroed)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	cr_assert_eq(buffer_status(&buffer), 0);
	cr_assert_eq(buffer.size, 0);
	cr_assert_null(buffer.data);
}

Test(buffer, is_recycled_with_as_much_memory_as_may_be_kept)
{
	struct buffer buffer = {0};
	size_t capacity;

	buffer_append_string(&buffer, "text");
	capacity = buffer.capacity;
	buffer_recycle(&buffer, capacity);
	cr_expect_eq(buffer.size, 0);
	cr_expect_eq(buffer.capacity, capacity);
	buffer.error = -EMSGSIZE;
	buffer_recycle(&buffer, capacity - 1);
	cr_expect_null(buffer.data);
	cr_expect_eq(buffer.capacity, 0);
	cr_expect_eq(buffer_status(&buffer), 0);
}

Test(buffer, appends_bytes_characters_text_and_formats)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	buffer_append(&buffer, "a\0b", 3);
	buffer_append_char(&buffer, '-');
	buffer_append_string(&buffer, "text");
	buffer_append_string(&buffer, "");
	buffer_append(&buffer, NULL, 0);
	buffer_printf(&buffer, " %d %s", 42, "x");
	cr_assert_eq(buffer_status(&buffer), 0);
	cr_assert_eq(buffer.size, 13);
	cr_assert_eq(memcmp(buffer.data, "a\0b-text 42 x", 13), 0);
}

Test(buffer, grows_to_what_a_single_append_needs)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};
	static char block[100000];

	buffer_append_char(&buffer, 'x');
	buffer_append(&buffer, block, sizeof(block));
	cr_assert_eq(buffer.size, sizeof(block) + 1);
	cr_assert_geq(buffer.capacity, buffer.size);
}

Test(buffer, remembers_that_it_met_its_limit_and_ignores_what_follows)
{
	cleanup(buffer_deinit) struct buffer buffer = {.limit = 4};

	buffer_append_string(&buffer, "abcd");
	cr_assert_eq(buffer_status(&buffer), 0, "exactly the limit fits");
	buffer_append_char(&buffer, 'e');
	cr_assert_eq(buffer_status(&buffer), -EMSGSIZE);
	buffer_append(&buffer, "", 0);
	buffer_printf(&buffer, "%s", "f");
	cr_assert_eq(buffer.size, 4);
	cr_assert_null(buffer_take(&buffer, NULL));
	buffer_reset(&buffer);
	buffer_append_char(&buffer, 'g');
	cr_assert_eq(buffer_status(&buffer), 0, "reset forgets the failure");
	cr_assert_eq(buffer.limit, 4);
}

Test(buffer, remembers_that_there_was_no_memory)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	has_memory = false;
	buffer_append_char(&buffer, 'x');
	cr_assert_eq(buffer_status(&buffer), -ENOMEM);
	cr_assert_null(buffer_reserve(&buffer, 1));
	has_memory = true;
	cr_assert_null(buffer_reserve(&buffer, 1), "the failure stays");
	buffer_reset(&buffer);
	cr_assert_not_null(buffer_reserve(&buffer, 1));
}

Test(buffer, keeps_what_it_held_when_memory_ends)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};
	static char block[100000];

	buffer_append_string(&buffer, "kept");
	has_memory = false;
	buffer_append(&buffer, block, sizeof(block));
	has_memory = true;
	cr_assert_eq(buffer_status(&buffer), -ENOMEM);
	cr_assert_eq(buffer.size, 4);
	cr_assert_eq(memcmp(buffer.data, "kept", 4), 0);
}

Test(buffer, refuses_sizes_that_overflow)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	buffer_append_char(&buffer, 'x');
	cr_assert_null(buffer_reserve(&buffer, SIZE_MAX));
	cr_assert_eq(buffer_status(&buffer), -ENOMEM);
	buffer_reset(&buffer);
	cr_assert_null(buffer_reserve(&buffer, SIZE_MAX / 2 + 2));
	cr_assert_eq(buffer_status(&buffer), -ENOMEM);
}

Test(buffer, hands_its_contents_over_as_a_string)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};
	cleanup_free char *text = NULL;
	cleanup_free char *empty = NULL;
	size_t size = 7;

	buffer_append_string(&buffer, "text");
	text = buffer_take(&buffer, &size);
	cr_assert_str_eq(text, "text");
	cr_assert_eq(size, 4);
	cr_expect_leq(malloc_usable_size(text), 32, "room to grow is given back");
	cr_assert_null(buffer.data);
	empty = buffer_take(&buffer, &size);
	cr_assert_str_eq(empty, "");
	cr_assert_eq(size, 0);
}

Test(buffer, is_not_handed_over_without_memory)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	buffer_append_string(&buffer, "text");
	has_memory = false;
	cr_assert_null(buffer_take(&buffer, NULL));
	cr_assert_eq(buffer_status(&buffer), -ENOMEM);
}

Test(buffer, terminates_without_counting_the_nul)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};

	buffer_append_string(&buffer, "ab");
	cr_assert_str_eq(buffer_terminate(&buffer), "ab");
	cr_assert_eq(buffer.size, 2);
	buffer_append_char(&buffer, 'c');
	cr_assert_str_eq(buffer_terminate(&buffer), "abc");
}

Test(buffer, keeps_its_memory_on_reset)
{
	cleanup(buffer_deinit) struct buffer buffer = {0};
	const char *data;

	buffer_append_string(&buffer, "ab");
	data = buffer.data;
	buffer_reset(&buffer);
	cr_assert_eq(buffer.size, 0);
	buffer_append_char(&buffer, 'c');
	cr_assert_eq(buffer.data, data);
}

Test(buffer, formats_text_of_any_length)
{
	char text[1001];

	for (size_t n = 0; n < sizeof(text); n++) {
		cleanup(buffer_deinit) struct buffer buffer = {0};

		memset(text, 'x', n);
		text[n] = '\0';
		buffer_append_char(&buffer, '>');
		buffer_printf(&buffer, "%s", text);
		cr_assert_eq(buffer.size, n + 1);
		cr_assert_str_eq(buffer_terminate(&buffer) + 1, text);
	}
}
