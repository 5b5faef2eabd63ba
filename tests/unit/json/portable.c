/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The reader compiled once more, for a machine without SSE2 and without memory. Both must be seen
 * to behave as the header describes, and neither happens by itself here.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Allocations that still succeed. */
static size_t allocations_left = SIZE_MAX;

static void *limited_realloc(void *block, size_t size)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left--;
	return realloc(block, size);
}

#ifndef JSON_SPAN_PORTABLE
#define JSON_SPAN_PORTABLE
#endif
#define realloc               limited_realloc
#define json_tape_read        portable_tape_read
#define json_tape_read_lax    portable_tape_read_lax
#define json_tape_read_object portable_tape_read_object
#define json_tape_deinit      portable_tape_deinit
#define json_tape_recycle     portable_tape_recycle
#define json_tape_reserve     portable_tape_reserve
#define json_tape_set_empty   portable_tape_set_empty
#define json_locate           portable_locate
#define json_keys_check       portable_keys_check
#define json_string_hash      portable_string_hash
#define json_string_rest      portable_string_rest
/* The rest of what tape.c defines. */
#define json_value_text    portable_value_text
#define json_count         portable_count
#define json_find          portable_find
#define json_find_sized    portable_find_sized
#define json_string_equals portable_string_equals
#define json_strings_equal portable_strings_equal
#define json_string_decode portable_string_decode
#define json_string_dup    portable_string_dup
#define json_string_points portable_string_points
#define json_is_deeper     portable_is_deeper
#define json_type_name     portable_type_name
/* NOLINTBEGIN(bugprone-suspicious-include): the sources themselves, compiled in another way */
#include "json/keys.c"
#include "json/reader.c"
#include "json/strings.c"
#include "json/tape.c"
/* NOLINTEND(bugprone-suspicious-include) */
#undef realloc
#undef json_tape_read

#include "util/buffer.h"

/* The other one, as the library has it. */
int json_tape_read(struct json_tape *tape, const char *text, size_t size, uint32_t depth_max,
	struct json_error *ret_error);

/* Both readers must return the same for @size bytes, given in a block of exactly that size. */
static void expect_same(const char *text, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape fast = {0};
	cleanup(json_tape_cleanup) struct json_tape plain = {0};
	cleanup_free char *copy = malloc(size ? size : 1);
	struct json_error fast_error = {0};
	struct json_error plain_error = {0};
	int r;

	cr_assert_not_null(copy);
	memcpy(copy, text, size);
	r = json_tape_read(&fast, copy, size, 16, &fast_error);
	cr_assert_eq(r, portable_tape_read(&plain, copy, size, 16, &plain_error));
	cr_assert_eq(fast_error.offset, plain_error.offset);
	cr_assert_eq(fast_error.message && plain_error.message
			     ? strcmp(fast_error.message, plain_error.message)
			     : fast_error.message != plain_error.message,
		0);
	cr_assert_eq(fast.count, plain.count);
	if (fast.count > 0)
		cr_assert_eq(
			memcmp(fast.tokens, plain.tokens, fast.count * sizeof(*fast.tokens)), 0);
}

Test(json_reader_portable, says_the_same_of_every_byte_at_every_place_of_a_string)
{
	for (size_t at = 0; at < 40; at++)
		for (int byte = 0; byte < 256; byte++) {
			char text[44];

			memset(text, 'x', sizeof(text));
			text[0] = '[';
			text[1] = '"';
			text[42] = '"';
			text[43] = ']';
			text[2 + at] = (char)byte;
			expect_same(text, sizeof(text));
			expect_same(text + 1, sizeof(text) - 2);
		}
}

Test(json_reader_portable, says_the_same_of_every_byte_at_every_place_between_tokens)
{
	for (size_t at = 0; at < 24; at++)
		for (int byte = 0; byte < 256; byte++) {
			char text[28];

			memset(text, ' ', sizeof(text));
			text[0] = '[';
			text[26] = '0';
			text[27] = ']';
			text[1 + at] = (char)byte;
			expect_same(text, sizeof(text));
		}
}

Test(json_reader_portable, says_the_same_of_every_start_of_a_document)
{
	static const char text[] =
		" { \"name\" : \"caf\xc3\xa9 \\u00e9\\ud83d\\ude00\\n\", "
		"\"list\":[1,-2.5e+3,true,false,"
		"null,[],{}],\r\n\t\"nested\":{\"nested\":{\"name\":\"\\\\\"}}, \"0123456789abcdef"
		"0123456789abcdef\" : 12345678901234567890 } ";

	for (size_t size = 0; size < sizeof(text); size++)
		expect_same(text, size);
}

Test(json_reader_memory, says_so_when_there_is_none)
{
	struct json_tape tape = {0};

	allocations_left = 0;
	cr_assert_eq(portable_tape_read(&tape, "[]", 2, 1, NULL), -ENOMEM);
	cr_assert_eq(portable_tape_read(&tape, "1", 1, 1, NULL), -ENOMEM);
	cr_assert_eq(tape.count, 0);
	cr_assert_null(tape.tokens);
}

Test(json_reader_memory, keeps_a_usable_tape_wherever_memory_ends)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t failures = 0;

	buffer_append_char(&text, '{');
	for (unsigned int i = 0; i < 1000; i++)
		buffer_printf(&text, "%s\"%u\":[[%u]]", i ? "," : "", i, i);
	buffer_append_char(&text, '}');
	for (size_t left = 0;; left++) {
		int r;

		portable_tape_deinit(&tape);
		allocations_left = left;
		r = portable_tape_read(&tape, text.data, text.size, 3, NULL);
		if (r == 0)
			break;
		cr_assert_eq(r, -ENOMEM);
		cr_assert_eq(tape.count, 0);
		failures++;
	}
	/* 64 tokens at first, doubled to hold 4001 and the table of 1000 keys after them. */
	cr_assert_eq(failures, 8);
	cr_assert_eq(json_count(&tape, 0), 1000);
}
