/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/tokens.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/buffer.h"
#include "util/cleanup.h"

TestSuite(ctl_tokens, .timeout = 20);

/* Read the bytes of @text, without a NUL. */
static struct c_tokens read_text(const char *text, char **ret_bytes)
{
	struct c_tokens tokens;
	size_t size = strlen(text);

	*ret_bytes = malloc(size + !size);
	cr_assert(*ret_bytes);
	memcpy(*ret_bytes, text, size);
	cr_assert_eq(c_tokens_read(*ret_bytes, size, &tokens), 0);
	return tokens;
}

/* Expect the tokens of @text, each after a letter for its kind, with a blank between them. */
static void expect(const char *text, const char *expected)
{
	static const char kinds[] = {[C_TOKEN_END] = '.',
		[C_TOKEN_NAME] = 'n',
		[C_TOKEN_NUMBER] = '0',
		[C_TOKEN_TEXT] = 't',
		[C_TOKEN_MARK] = 'm'};
	cleanup(c_tokens_deinit) struct c_tokens tokens = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *bytes = NULL;

	tokens = read_text(text, &bytes);
	for (size_t i = 0; i < tokens.n_items; i++) {
		buffer_printf(&out, "%s%c", i > 0 ? " " : "", kinds[tokens.items[i].kind]);
		buffer_append(&out, bytes + tokens.items[i].offset, tokens.items[i].length);
	}
	cr_expect_str_eq(buffer_terminate(&out), expected, "%s: %s", text, out.data);
}

Test(ctl_tokens, are_names_numbers_texts_and_marks)
{
	static const char *const cases[][2] = {
		{"", "."},
		{" \t\r\f\n", "."},
		{"int a_1$=_b;", "nint na_1$ m= n_b m; ."},
		{"\xC3\xA4z1", "n\xC3\xA4z1 ."},
		{"1a 0x1F 1.5e+3 2E-1 0xe+1 1e 1+2",
			"01a 00x1F 01.5e+3 02E-1 00xe m+ 01 01e 01 m+ 02 ."},
		{"1p-2 3P+4 5f-6", "01p-2 03P+4 05f m- 06 ."},
		{"\"a b\" 'c' \"\\\"\" '\\''", "t\"a b\" t'c' t\"\\\"\" t'\\'' ."},
		/* A text ends with its line, or with all of it. */
		{"\"a\nb", "t\"a\n nb ."},
		{"\"a", "t\"a ."},
		{"\"", "t\" ."},
		{"'\\", "t'\\ ."},
		{"a\\\nb", "na nb ."},
		{"a...b..c", "na m... nb m. m. nc ."},
		{"<<= >>= << >> <= >= == != && || -> ++ -- += -= *= /= %= &= |= ^= ##",
			"m<<= m>>= m<< m>> m<= m>= m== m!= m&& m|| m-> m++ m-- m+= m-= m*= m/= m%= "
			"m&= m|= m^= m## ."},
		{"<=>-+ ==", "m<= m> m- m+ m== ."},
		{"<", "m< ."},
		{"@\x01", "m@ m\x01 ."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(cases[i][0], cases[i][1]);
}

Test(ctl_tokens, have_neither_comments_nor_directives)
{
	static const char *const cases[][2] = {
		{"a/* b */c", "na nc ."},
		{"a/**/c", "na nc ."},
		{"a/*/c", "na ."},
		{"a//b\nc", "na nc ."},
		{"a/b", "na m/ nb ."},
		{"a//", "na ."},
		{"a/*", "na ."},
		{"#pragma a\nb", "nb ."},
		{"  # pragma a\nb", "nb ."},
		{"/* a */ #pragma a\nb", "nb ."},
		/* Only at the beginning of a line. */
		{"a # b", "na m# nb ."},
		{"#a", "."},
		{"#", "."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(cases[i][0], cases[i][1]);
}

/* Expect the last name of @text at the line @line of the file @file. */
static void expect_place(const char *text, const char *file, unsigned int line)
{
	cleanup(c_tokens_deinit) struct c_tokens tokens = {0};
	cleanup_free char *bytes = NULL;
	const struct c_token *last;

	tokens = read_text(text, &bytes);
	cr_assert_geq(tokens.n_items, 2);
	last = &tokens.items[tokens.n_items - 2];
	cr_expect_str_eq(tokens.files[last->file], file, "%s", text);
	cr_expect_eq(last->line, line, "%s: %u", text, last->line);
}

Test(ctl_tokens, have_the_place_of_the_marker_before_them)
{
	expect_place("a", "", 1);
	expect_place("\n\na", "", 3);
	expect_place("# 5 \"x.h\"\na", "x.h", 5);
	expect_place("#5 \"x.h\" 1 3\n\na", "x.h", 6);
	expect_place("#\t12 \"x.h\"\na", "x.h", 12);
	expect_place("#line 7 \"y.h\"\na", "y.h", 7);
	expect_place("#line 7\na", "", 7);
	expect_place("# 5 \"x.h\"\n# 9\na", "x.h", 9);
	expect_place("# 5 \"x.h\"\n#pragma 9\na", "x.h", 6);
	expect_place("# 5 \"x.h\"\n# 7 \"y.h\"\n# 20 \"x.h\"\na", "x.h", 20);
	expect_place("# 5 \"open\na", "open", 5);
	expect_place("/* 1\n2\n*/ a", "", 3);
	expect_place("// 1\na", "", 2);
	expect_place("#lines 7\na", "", 2);
	expect_place("#line\na", "", 2);
}

Test(ctl_tokens, know_the_first_and_the_last_comment_before_them)
{
	cleanup(c_tokens_deinit) struct c_tokens tokens = {0};
	cleanup_free char *bytes = NULL;

	tokens = read_text("a /* 1 */ // 2\n /* 3 */ b c // 4", &bytes);
	cr_assert_eq(tokens.n_items, 4);
	cr_assert_eq(tokens.n_comments, 4);
	cr_expect_eq(tokens.items[0].comment, C_COMMENT_NONE);
	cr_expect_eq(tokens.items[0].first_comment, C_COMMENT_NONE);
	cr_expect_eq(tokens.items[1].first_comment, 0);
	cr_expect_eq(tokens.items[1].comment, 2);
	cr_expect_eq(tokens.items[2].comment, C_COMMENT_NONE);
	cr_expect_eq(tokens.items[3].comment, 3, "a comment at the end");
	cr_expect(memcmp(bytes + tokens.comments[0].offset, "/* 1 */", 7) == 0);
	cr_expect_eq(tokens.comments[0].length, 7);
	cr_expect_eq(tokens.comments[1].length, 4, "without its newline");
	cr_expect_eq(tokens.comments[3].length, 4);
}

Test(ctl_tokens, know_what_standard_input_itself_includes)
{
	static const struct {
		const char *text;
		size_t n;
	} cases[] = {
		{"# 1 \"<stdin>\"\n# 1 \"/x.h\" 1\na", 1},
		{"# 1 \"<stdin>\"\n# 1 \"/x.h\" 2\na", 0},
		{"# 1 \"<stdin>\"\n# 1 \"/x.h\"\na", 0},
		{"# 1 \"<stdin>\"\n# 1 \"<x>\" 1\na", 0},
		{"# 1 \"y.c\"\n# 1 \"/x.h\" 1\na", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(c_tokens_deinit) struct c_tokens tokens = {0};
		cleanup_free char *bytes = NULL;

		tokens = read_text(cases[i].text, &bytes);
		cr_expect_eq(tokens.n_includes, cases[i].n, "%s", cases[i].text);
	}
}

Test(ctl_tokens, are_compared_whole)
{
	cleanup(c_tokens_deinit) struct c_tokens tokens = {0};
	cleanup_free char *bytes = NULL;

	tokens = read_text("int \"int\"", &bytes);
	cr_expect(c_token_is(&tokens, &tokens.items[0], "int"));
	cr_expect_not(c_token_is(&tokens, &tokens.items[0], "in"));
	cr_expect_not(c_token_is(&tokens, &tokens.items[0], "inu"));
	cr_expect_not(c_token_is(&tokens, &tokens.items[0], "into"));
	cr_expect_not(c_token_is(&tokens, &tokens.items[1], "\"int\""), "a text is no word");
}
