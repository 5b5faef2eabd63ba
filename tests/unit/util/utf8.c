/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/text/utf8.h"

Test(utf8, knows_the_length_of_every_well_formed_sequence)
{
	cr_assert_eq(utf8_sequence_length("a", 1), 1);
	cr_assert_eq(utf8_sequence_length("\0", 1), 1);
	cr_assert_eq(utf8_sequence_length("\xc2\x80", 2), 2);
	cr_assert_eq(utf8_sequence_length("\xdf\xbf", 2), 2);
	cr_assert_eq(utf8_sequence_length("\xe0\xa0\x80", 3), 3);
	cr_assert_eq(utf8_sequence_length("\xed\x9f\xbf", 3), 3);
	cr_assert_eq(utf8_sequence_length("\xee\x80\x80", 3), 3);
	cr_assert_eq(utf8_sequence_length("\xf0\x90\x80\x80", 4), 4);
	cr_assert_eq(utf8_sequence_length("\xf4\x8f\xbf\xbf", 4), 4);
}

Test(utf8, refuses_overlong_forms_surrogates_and_what_is_above_unicode)
{
	static const char *const bad[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xfe", "\xff", "\xc3(", "\xe2\x82(", "\xf0\x9f\x98("};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_assert_eq(utf8_sequence_length(bad[i], strlen(bad[i])), 0, "row %zu", i);
		cr_assert_not(utf8_is_valid(bad[i], strlen(bad[i])), "row %zu", i);
	}
}

Test(utf8, refuses_a_sequence_that_is_cut_and_reads_nothing_behind_it)
{
	static const char *const whole[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		for (size_t size = 1; size < strlen(whole[i]); size++) {
			cleanup_free char *part = malloc(size);

			cr_assert_not_null(part);
			memcpy(part, whole[i], size);
			cr_assert_eq(utf8_sequence_length(part, size), 0);
			cr_assert_not(utf8_is_valid(part, size));
		}
}

Test(utf8, checks_text_at_every_offset_of_a_block)
{
	for (size_t at = 0; at < 79; at++) {
		char text[81];

		memset(text, 'x', sizeof(text));
		memcpy(text + at, "\xc3\xa9", 2);
		cr_assert(utf8_is_valid(text, sizeof(text)), "at %zu", at);
		text[at + 1] = 'x';
		cr_assert_not(utf8_is_valid(text, sizeof(text)), "at %zu", at);
	}
	cr_assert(utf8_is_valid("", 0));
}

Test(utf8, counts_code_points)
{
	cr_assert_eq(utf8_count("", 0), 0);
	cr_assert_eq(utf8_count("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10), 4);
}

Test(utf8, cuts_between_code_points)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";

	cr_assert_eq(utf8_prefix(text, 10, 0), 0);
	cr_assert_eq(utf8_prefix(text, 10, 1), 1);
	cr_assert_eq(utf8_prefix(text, 10, 2), 3);
	cr_assert_eq(utf8_prefix(text, 10, 3), 6);
	cr_assert_eq(utf8_prefix(text, 10, 4), 10);
	cr_assert_eq(utf8_prefix(text, 10, 99), 10);
}

Test(utf8, is_cut_between_characters_whatever_its_bytes_are)
{
	cr_expect_eq(utf8_cut("abc", 3, 3), 3);
	cr_expect_eq(utf8_cut("abcd", 4, 3), 3);
	cr_expect_eq(utf8_cut("a\xC3\xBC", 3, 2), 1);
	cr_expect_eq(utf8_cut("\xF0\x9F\x98\x80", 4, 3), 0);
	cr_expect_eq(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 2), 2, "no character begins there");
	cr_expect_eq(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
	cr_expect_eq(utf8_cut("\x80\x80", 2, 0), 0);
}

Test(utf8, encodes_what_it_decodes)
{
	static const struct {
		unsigned int code;
		const char *bytes;
	} cases[] = {{0x41, "A"}, {0x7f, "\x7f"}, {0x80, "\xc2\x80"}, {0x7ff, "\xdf\xbf"},
		{0x800, "\xe0\xa0\x80"}, {0xffff, "\xef\xbf\xbf"}, {0x10000, "\xf0\x90\x80\x80"},
		{0x10ffff, "\xf4\x8f\xbf\xbf"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char bytes[4];
		size_t size = utf8_encode(cases[i].code, bytes);

		cr_assert_eq(size, strlen(cases[i].bytes), "U+%04X", cases[i].code);
		cr_assert_eq(memcmp(bytes, cases[i].bytes, size), 0, "U+%04X", cases[i].code);
		cr_assert_eq(utf8_sequence_length(bytes, size), size, "U+%04X", cases[i].code);
	}
}

Test(utf8, is_repaired_byte_by_byte)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	utf8_repair("a\xFF\xC3\xA9\xE2\x82", 6, &out);
	cr_expect_str_eq(buffer_terminate(&out), "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
}
