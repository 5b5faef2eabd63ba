/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/text/utf8.h"
#include "util/text/visible.h"

static const char *const cases[][2] = {
	{"", ""},
	{"plain \"text\" \\u001b, é, 日本, 😀", "plain \"text\" \\u001b, é, 日本, 😀"},
	{"\x1b]0;title\x07", "\\u001b]0;title\\u0007"},
	{"a\r\n\tb\x7f", "a\\u000d\\u000a\\u0009b\\u007f"},
	{"\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0", "\\u0080\\u009b\\u009f\xC2\xA0"},
	{"\xD8\x9C\xE2\x80\x8E\xE2\x80\x8F", "\\u061c\\u200e\\u200f"},
	{"\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xA9", "\xE2\x80\xA7\\u2028\\u2029"},
	{"\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF", "\\u202a\\u202e\xE2\x80\xAF"},
	{"/tmp/sa\u200bf\u200ce\u200d\u2060\u2065\ufeff",
		"/tmp/sa\\u200bf\\u200ce\\u200d\\u2060\\u2065\\ufeff"},
	{"a\u00adb\u3164\u115f\uffa0\u180b\ufe0f\ufff9",
		"a\\u00adb\\u3164\\u115f\\uffa0\\u180b\\ufe0f\\ufff9"},
	{"x\U000e0041\U000e0100", "x\\udb40\\udc41\\udb40\\udd00"},
	{"\U0001bca0", "\\ud82f\\udca0"},
	{"می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
	{"می\u200c\u200cخ", "می\\u200c\\u200cخ"},
	{"❤\ufe0f\u200d🔥 ⚠\ufe0f a\ufe0f ⚠\ufe0f\ufe0f 👩\u200d👧",
		"❤\ufe0f\u200d🔥 ⚠\ufe0f a\\ufe0f ⚠\ufe0f\\ufe0f 👩\u200d👧"},
	{"\xff\xC2", "\xEF\xBF\xBD\xEF\xBF\xBD"},
};

Test(visible, escapes_what_a_terminal_obeys_or_what_misleads_a_reader)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		visible_append(&out, cases[i][0], strlen(cases[i][0]));
		cr_expect_str_eq(buffer_terminate(&out), cases[i][1]);
	}
}

Test(visible, escapes_nothing_else)
{
	unsigned int n_escaped = 0;

	for (unsigned int code = 0; code <= 0x10FFFF; code++) {
		char bytes[VISIBLE_BYTES];
		char text[4];
		size_t size;

		if (code >= 0xD800 && code < 0xE000)
			continue;
		cr_expect_eq(visible_next(text, utf8_encode(code, text), bytes, &size),
			utf8_encode(code, text));
		if (size > 1 && bytes[0] == '\\')
			n_escaped++;
		else
			cr_expect_arr_eq(bytes, text, size);
	}
	/* C0; DEL and C1; U+2028 and U+2029; U+FFF9 to U+FFFB; Default_Ignorable_Code_Point of
	 * Unicode 16. */
	cr_expect_eq(n_escaped, 32 + 33 + 2 + 3 + 4174);
}

Test(visible, keeps_line_feeds_of_lines)
{
	static const char *const rows[][2] = {{"", ""}, {"a", "a"}, {"a\nb\x1b", "a\nb\\u001b"},
		{"\n", "\n"}, {"\n\na\n", "\n\na\n"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		visible_append_lines(&out, rows[i][0], strlen(rows[i][0]));
		cr_expect_str_eq(buffer_terminate(&out), rows[i][1]);
	}
}
