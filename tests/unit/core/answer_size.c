/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/answer.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_written(const char *result, uint32_t max, bool is_cut, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_eq(answer_write_result(&out, result, strlen(result), max), is_cut, "%s", result);
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s", out.data);
}

Test(size, lets_pass_what_has_exactly_the_limit)
{
	expect_written("{\"a\":1}", 7, false, "{\"a\":1}");
	expect_written("{\"a\":1}", 100, false, "{\"a\":1}");
}

Test(size, counts_code_points)
{
	expect_written("\"\xc3\xa9\xf0\x9f\x98\x80\"", 4, false, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
}

Test(size, replaces_what_is_longer)
{
	expect_written("{\"a\":12}", 7, true,
		"{\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":8,\"max_chars\":7,"
		"\"hint\":\"The result has 8 characters, 7 are allowed: ask for less, or raise "
		"result_max_chars.\",\"head\":\"{\\\"a\\\":12\"}");
}

Test(size, cuts_the_head_between_code_points)
{
	expect_written("\"\xf0\x9f\x98\x80\xc3\xa9\"", 2, true,
		"{\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":4,\"max_chars\":2,"
		"\"hint\":\"The result has 4 characters, 2 are allowed: ask for less, or raise "
		"result_max_chars.\",\"head\":\"\\\"\xf0\x9f\x98\x80\"}");
}

Test(size, cuts_texts_between_code_points)
{
	cr_expect_eq(answer_cut_text("abc", 3, 3), 3);
	cr_expect_eq(answer_cut_text("abc", 3, 2), 2);
	cr_expect_eq(answer_cut_text("\xc3\xa9\xc3\xa9", 4, 1), 2);
	cr_expect_eq(answer_cut_text("\xc3\xa9\xc3\xa9", 4, 2), 4);
	cr_expect_eq(answer_cut_text("", 0, 0), 0);
}

Test(size, cuts_arguments_with_a_hint_of_their_own)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_expect_not(answer_write_arguments(&out, "{\"a\":1}", 7, 7));
	cr_expect_str_eq(buffer_terminate(&out), "{\"a\":1}");
	buffer_reset(&out);
	cr_expect(answer_write_arguments(&out, "{\"a\":12}", 8, 7));
	cr_expect_str_eq(buffer_terminate(&out),
		"{\"truncated\":true,\"reason\":\"too_long\",\"actual_chars\":8,\"max_chars\":7,"
		"\"hint\":\"The arguments have 8 characters, 7 are allowed: raise "
		"result_max_chars.\",\"head\":\"{\\\"a\\\":12\"}");
}
