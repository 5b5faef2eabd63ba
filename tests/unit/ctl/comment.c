/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/comment.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/array.h"
#include "util/cleanup.h"

TestSuite(ctl_comment, .timeout = 20);

static struct header read_header(const char *text)
{
	struct header header = {0};

	buffer_append_string(&header.text, text);
	cr_assert(buffer_terminate(&header.text));
	cr_assert_eq(header_read_text(&header), 0);
	cr_assert_eq(comment_place(&header), 0);
	return header;
}

/* Expect the description of the function @name in the header @text. */
static void expect(const char *text, const char *name, const char *description)
{
	cleanup(header_deinit) struct header header = read_header(text);
	cleanup(buffer_deinit) struct buffer out = {0};

	comment_describe(&header, c_find_function(&header.declarations, name), &out);
	cr_expect_str_eq(buffer_terminate(&out), description, "%s\n%s", text, out.data);
}

/* Expect the description of f(), whose comment has the text @comment. */
static void expect_plain(const char *comment, const char *description)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "/*%s*/ int f(int a);", comment);
	expect(buffer_terminate(&text), "f", description);
}

Test(ctl_comment, is_read_without_its_marks)
{
	static const char *const cases[][2] = {
		{"* Doc.\n * More.\n ", "Doc. More."},
		{"! Doc.", "Doc."},
		{"*< Doc. ", "Doc."},
		{"\n\t** Starred.\n\t", "Starred."},
		{" a * b / c < d ", "a * b / c < d"},
		{" One.\n\n Two.", "One."},
		{"\n\n\n Late.", "Late."},
		{" One.\n @return two", "One."},
		{" One.\n \\return two", "One."},
		{" a@b.c", "a@b.c"},
		{" @return one", ""},
		{" \\return one", ""},
		{" one\r\ttwo\x01three ", "one two three"},
		{" the \\c word and \\ this", "the word and \\ this"},
		{" [a] | b", "a b"},
		/* SQLite marks what is tested. */
		{" ^One is ^(two)^ and (three)", "One is two and (three)"},
		{" x (y) z) w^", "x (y) z) w"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plain(cases[i][0], cases[i][1]);
	expect("//! One\n//< two.\nint f(void);", "f", "two.");
	expect("//\nint f(void);", "f", "");
}

Test(ctl_comment, is_read_after_what_repeats_the_name)
{
	static const char *const cases[][2] = {
		{" f() - Counts.", "Counts."},
		{" f: Counts.", "Counts."},
		{" f : Counts.", "Counts."},
		{" f() counts.", "f() counts."},
		{" from - to", "from - to"},
		{" === f: Counts.", "Counts."},
		{" +-# Counts.", "Counts."},
		{"\n** CAPI3REF: Count Things\n**\n** More.", "Count Things"},
		{" NAME f() x\n DESCRIPTION\n\n Counts.\n", "Counts."},
		{" NAME f() x\n Counts.\n", "Counts."},
		{" NAMES are counted.", "NAMES are counted."},
		{" About.\n @brief Counts.\n @return n", "Counts."},
		{" About. \\brief Counts.", "Counts."},
		{" In brief this.", "In brief this."},
		{" @briefly this.", ""},
		{"brief this", "brief this"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plain(cases[i][0], cases[i][1]);
}

Test(ctl_comment, of_a_parameter_is_by_doxygen_or_kernel_doc)
{
	static const char *const cases[][2] = {
		{" @param a The\n number.\n @return b", "The number."},
		{" \\param a - The number.", "The number."},
		{" @param[in,out] a The number.", "The number."},
		{" @param  \ta\tThe number.", "The number."},
		{" @a: The number.\n @b: other", "The number."},
		{" @a:\n   The number.", "The number."},
		{" @param b Not a number.\n @param a The number.", "The number."},
		{" @param ab No.\n @param b_a No.\n @param ba No.", ""},
		{" @param b a", ""},
		{" @param b a c", ""},
		{" @param a: The number.", ""},
		{" @a The number.", ""},
		{" x @a: The number.", ""},
		{" a: The number.", ""},
		{" No parameter is here.", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		struct header header;

		buffer_printf(&text, "/**%s*/ int f(int a);", cases[i][0]);
		header = read_header(buffer_terminate(&text));
		comment_describe_parameter(
			&header, c_find_function(&header.declarations, "f"), "a", &out);
		cr_expect_str_eq(
			buffer_terminate(&out), cases[i][1], "%s: %s", cases[i][0], out.data);
		header_deinit(&header);
	}
}

/* The comments of most functions have to name the function before. */
Test(ctl_comment, is_after_a_function_where_most_are)
{
	static const struct {
		const char *text;
		const char *of_a;
		const char *of_b;
	} cases[] = {
		{"int a(void); /* a() adds. */ int b(void); /* b() bends. */", "a() adds.",
			"b() bends."},
		/* Half of them is not most. */
		{"int a(void); /* a() adds. */ int b(void); /* Nothing. */", "", "a() adds."},
		{"int a(void); /* a() adds. */ int b(void);", "a() adds.", ""},
		/* As many name the function after. */
		{"int a(void); /* a() is no b(). */ int b(void);", "", "a() is no b()."},
		{"int a(void); /* One. */ /* Two. a() b() */ int b(void);", "", "Two. a() b()"},
		/* Each file has its own way. */
		{"# 1 \"x.h\"\nint a(void); /* a() adds. */\n# 1 \"y.h\"\n/* Bends. */ int b(void);"
		 " /* No. */",
			"a() adds.", "Bends."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		expect(cases[i].text, "a", cases[i].of_a);
		expect(cases[i].text, "b", cases[i].of_b);
	}
}

/* Expect @size bytes with @end at their end of @n times the letter x, @rest and more. */
static void expect_cut(size_t n, const char *rest, size_t size, const char *end)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct header header;

	buffer_append_string(&text, "/* ");
	for (size_t i = 0; i < n; i++)
		buffer_append_char(&text, 'x');
	buffer_append_string(&text, rest);
	for (size_t i = 0; i < COMMENT_BYTES_MAX; i++)
		buffer_append_char(&text, 'y');
	buffer_append_string(&text, " */ int f(void);");
	header = read_header(buffer_terminate(&text));
	comment_describe(&header, c_find_function(&header.declarations, "f"), &out);
	cr_expect_eq(out.size, size, "%zu", out.size);
	cr_expect_str_eq(buffer_terminate(&out) + size - strlen(end), end);
	header_deinit(&header);
}

Test(ctl_comment, ends_with_a_sentence_where_one_ends_in_its_second_half)
{
	expect_cut(0, "", COMMENT_BYTES_MAX, "yy");
	expect_cut(COMMENT_BYTES_MAX / 2 - 1, ". ", COMMENT_BYTES_MAX / 2, "x.");
	expect_cut(COMMENT_BYTES_MAX / 2 - 2, ". ", COMMENT_BYTES_MAX, "yy");
	expect_cut(COMMENT_BYTES_MAX - 2, ". ", COMMENT_BYTES_MAX - 1, "x.");
	expect_cut(COMMENT_BYTES_MAX - 4, ". z ", COMMENT_BYTES_MAX - 3, "x.");
	expect_cut(COMMENT_BYTES_MAX - 2, "v ", COMMENT_BYTES_MAX - 1, "xv");
}
