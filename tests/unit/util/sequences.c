/* SPDX-License-Identifier: Apache-2.0 */
#include "util/cleanup.h"
#include "util/sequences.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_left(const char *text, size_t size, const char *left)
{
	char bytes[256];
	size_t n;

	memcpy(bytes, text, size);
	n = sequences_remove(bytes, size);
	cr_expect_eq(n, strlen(left), "%s: %zu bytes", left, n);
	cr_expect_arr_eq(bytes, left, strlen(left), "%s: %.*s", left, (int)n, bytes);
}

static const char *const cases[][2] = {
	{"", ""},
	{"plain [32m, é, 日本\n", "plain [32m, é, 日本\n"},
	{"\x1b[32mgreen\x1b[0m", "green"},
	{"\x1b[1;38:2::255:0:0mred\x1b[m\x1b[?25l\x1b[2 q", "red"},
	{"\x1b]0;title\x07"
	 "after",
		"after"},
	{"\x1b]8;;https://a.example/\x1b\\link\x1b]8;;\x1b\\.", "link."},
	{"\x1bP1$r0m\x1b\\a\x1b_Gf=100;AAAA\x1b\\b", "ab"},
	{"\x1b(B\x1b[ma\x1b"
	 "7b\x1b=c\x1b#8",
		"abc"},
	/* A cut or malformed sequence takes no text with it. */
	{"a\x1b", "a"},
	{"a\x1b[38;5", "a"},
	{"a\x1b[38;5\nb", "a\nb"},
	{"a\x1b[3é", "aé"},
	{"a\x1b]0;title\nb\x07", "a0;title\nb\x07"},
	{"a\x1b]0;title\x1b[0m", "a0;title"},
	{"a\x1b]", "a"},
	{"a\x1b\x1b[0m\nb", "a\nb"},
	{"a\x1b\tb\x1bé", "a\tbé"},
};

Test(sequences, of_terminals_are_removed_and_nothing_else)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_left(cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

Test(sequences, take_time_that_grows_with_the_text, .timeout = 60)
{
	const size_t size = 4 << 20;
	cleanup_free char *text = malloc(size);

	cr_assert_not_null(text);
	for (size_t i = 0; i + 1 < size; i += 2)
		memcpy(text + i, "\x1b]", 2);
	cr_expect_eq(sequences_remove(text, size), 0);
	memset(text, ']', size);
	text[0] = '\x1b';
	cr_expect_eq(sequences_remove(text, size), size - 2);
}

/* A sanitizer sees a read beyond the last byte. */
Test(sequences, are_read_up_to_the_last_byte)
{
	static const char *const cut[] = {"\x1b", "\x1b[", "\x1b[3", "\x1b]", "\x1b]0;t",
		"\x1b]0;t\x1b", "\x1bP\x1b", "\x1b(", "\x1b_x\x1b", "a\x1b]0;title\x1b"};

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		size_t size = strlen(cut[i]);
		cleanup_free char *copy = malloc(size);

		memcpy(copy, cut[i], size);
		cr_expect_leq(sequences_remove(copy, size), size);
	}
	cr_expect_eq(sequences_remove(NULL, 0), 0);
}
