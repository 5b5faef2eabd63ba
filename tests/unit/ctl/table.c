/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "util/cleanup.h"

static void set_up(void)
{
	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
}

TestSuite(ctl_table, .init = set_up, .timeout = 20);

static const struct table_column columns[] = {{"NAME", false}, {"COUNT", true}, {"TEXT", false}};

static void expect(const char *const *cells, size_t n_cells, size_t width, const char *expected)
{
	cleanup(table_deinit) struct table table = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	table_init(&table, columns, 3);
	for (size_t i = 0; i < n_cells; i++)
		table_add(&table, cells[i]);
	table_write(&table, width, "", "", &out);
	cr_expect_str_eq(buffer_terminate(&out), expected);
}

Test(ctl_table, aligns_text_to_the_left_and_numbers_to_the_right)
{
	expect((const char *const[]){"a", "1", "x y", "longer", "123456", ""}, 6, 0,
		"NAME     COUNT  TEXT\n"
		"a            1  x y\n"
		"longer  123456\n");
}

Test(ctl_table, measures_columns_of_the_terminal_not_bytes)
{
	expect((const char *const[]){"äöü", "1", "x", "日本", "2", "y", "e\xCC\x81", "3", "z"}, 9,
		0,
		"NAME  COUNT  TEXT\n"
		"äöü       1  x\n"
		"日本      2  y\n"
		"e\xCC\x81         3  z\n");
}

Test(ctl_table, wraps_the_last_column_between_words)
{
	expect((const char *const[]){"a", "1", "exactly", "b", "2",
		       "a text that is too long for one line"},
		6, 40,
		"NAME  COUNT  TEXT\n"
		"a         1  exactly\n"
		"b         2  a text that is too long for\n"
		"             one line\n");
	expect((const char *const[]){"a", "1", "日本語日本語日本語日本語日本語"}, 3, 38,
		"NAME  COUNT  TEXT\n"
		"a         1  日本語日本語日本語日本語\n"
		"             日本語\n");
}

Test(ctl_table, breaks_a_word_only_if_it_is_longer_than_a_line)
{
	expect((const char *const[]){"a", "1", "/usr/lib/a/very/long/path/of/a/file is here"}, 3,
		38,
		"NAME  COUNT  TEXT\n"
		"a         1  /usr/lib/a/very/long/\n"
		"             path/of/a/file is here\n");
	expect((const char *const[]){"a", "1", "abcdefghijklmnopqrstuvwxyz is long"}, 3, 37,
		"NAME  COUNT  TEXT\n"
		"a         1  abcdefghijklmnopqrstuvwx\n"
		"             yz is long\n");
}

Test(ctl_table, wraps_a_long_text_below_its_row_when_it_has_little_room)
{
	expect((const char *const[]){"a name as long as this", "1", "fits", "b", "2",
		       "a text that is too long for one line"},
		6, 40,
		"NAME                    COUNT  TEXT\n"
		"a name as long as this      1  fits\n"
		"b                           2\n"
		"    a text that is too long for one line\n");
	expect((const char *const[]){"a name as long as this", "1",
		       "a text that is too long for one line, and goes on"},
		3, 35,
		"NAME                    COUNT  TEXT\n"
		"a name as long as this      1\n"
		"    a text that is too long for one\n"
		"    line, and goes on\n");
}

Test(ctl_table, is_paragraphs_where_its_columns_have_no_room)
{
	expect((const char *const[]){"abcdef", "1", "some words to wrap", "b", "", ""}, 6, 18,
		"abcdef\n"
		"  COUNT 1\n"
		"  TEXT some words\n"
		"  to wrap\n"
		"b\n");
	expect((const char *const[]){"abcdefghij", "1", "word", "b", "-", "5 ms"}, 6, 20,
		"abcdefghij\n"
		"  COUNT 1  TEXT word\n"
		"b\n"
		"  TEXT 5 ms\n");
	expect((const char *const[]){"abcdef", "1", "some words"}, 3, 12,
		"abcdef\n"
		"  COUNT 1\n"
		"  TEXT some\n"
		"  words\n");
	/* One column is enough for an end. */
	expect((const char *const[]){"ab", "1", ""}, 3, 1,
		"a\n  b\n  C\n  O\n  U\n  N\n  T\n  1\n");
}

Test(ctl_table, is_its_titles_when_there_is_no_row)
{
	expect(NULL, 0, 0, "NAME  COUNT  TEXT\n");
}

Test(ctl_table, keeps_every_cell_on_its_line_and_free_of_orders_to_the_terminal)
{
	expect((const char *const[]){"a\nb", "1", "\x1b[31mred\xC2\x9B\x7F\xFF"}, 3, 0,
		"NAME  COUNT  TEXT\n"
		"a b       1  \\u001b[31mred\\u009b\\u007f\xEF\xBF\xBD\n");
}

Test(ctl_table, has_styles_only_where_there_are_colours)
{
	static const char styled[] =
		"\x1b[1mNAME  COUNT  TEXT\x1b[0m\n\x1b[31mbad\x1b[0m       1\n";

	for (int is_coloured = 0; is_coloured < 2; is_coloured++) {
		cleanup(table_deinit) struct table table = {0};
		cleanup(buffer_deinit) struct buffer out = {0};

		table_init(&table, columns, 3);
		buffer_append_string(table_cell(&table), "bad");
		table_next_styled(&table, "\x1b[31m");
		table_add(&table, "1");
		table_add(&table, "");
		table_write(&table, 0, is_coloured ? "\x1b[1m" : "", is_coloured ? "\x1b[0m" : "",
			&out);
		cr_expect_str_eq(buffer_terminate(&out),
			is_coloured ? styled : "NAME  COUNT  TEXT\nbad       1\n");
	}
}

#define WRITE(table, width)                                                                        \
	do {                                                                                       \
		buffer_reset(&out);                                                                \
		table_write(&(table), width, "", "", &out);                                        \
		cr_assert(buffer_terminate(&out));                                                 \
	} while (0)

Test(ctl_table, aligns_numbers_of_its_last_column_to_the_right)
{
	static const struct table_column numbers[] = {{"NAME", false}, {"COUNT", true}};
	cleanup(table_deinit) struct table table = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	table_init(&table, numbers, 2);
	table_add(&table, "a");
	table_add(&table, "1");
	table_add(&table, "b");
	table_add(&table, "1234567");
	cr_expect_eq(table_rows(&table), 2);
	WRITE(table, 0);
	cr_expect_str_eq(out.data, "NAME    COUNT\n"
				   "a           1\n"
				   "b     1234567\n");
}

Test(ctl_table, has_a_cell_for_each_member_and_each_time)
{
	static const char json[] = "{\"a\":\"x\",\"b\":null}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(table_deinit) struct table table = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	setenv("TZ", "UTC", 1);
	cr_assert_eq(json_tape_read(&tape, json, strlen(json), 9, NULL), 0);
	table_init(&table, columns, 3);
	table_add_member(&table, &tape, 0, "a");
	table_add_member(&table, &tape, 0, "b");
	table_add_time(&table, "2020-03-01T10:09:08Z");
	table_add_member(&table, &tape, 0, "c");
	table_add_time(&table, "2020-03-01T10:09:08Z.");
	table_add_time(&table, "yesterday");
	WRITE(table, 0);
	cr_expect_str_eq(out.data, "NAME                  COUNT  TEXT\n"
				   "x                            2020-03-01 10:09\n"
				   "      2020-03-01T10:09:08Z.  yesterday\n");
}

/* A line has as many cells as fit into the width. */
Test(ctl_table, fills_the_lines_of_a_paragraph)
{
	static const struct table_column many[] = {
		{"NAME", false}, {"AB", false}, {"CD", false}, {"EF", false}, {"LAST", false}};
	static const char *const cells[] = {"a name", "one", "two", "six", "a text"};
	static const struct {
		size_t width;
		const char *expected;
	} cases[] = {
		{24, "a name\n  AB one  CD two  EF six\n  LAST a text\n"},
		{23, "a name\n  AB one  CD two\n  EF six  LAST a text\n"},
		{21, "a name\n  AB one  CD two\n  EF six  LAST a text\n"},
		{20, "a name\n  AB one  CD two\n  EF six\n  LAST a text\n"},
		{15, "a name\n  AB one\n  CD two\n  EF six\n  LAST a text\n"},
		{13, "a name\n  AB one\n  CD two\n  EF six\n  LAST a text\n"},
		{12, "a name\n  AB one\n  CD two\n  EF six\n  LAST a\n  text\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(table_deinit) struct table table = {0};
		cleanup(buffer_deinit) struct buffer out = {0};

		table_init(&table, many, 5);
		for (size_t j = 0; j < 5; j++)
			table_add(&table, cells[j]);
		WRITE(table, cases[i].width);
		cr_expect_str_eq(out.data, cases[i].expected, "%zu\n%s", cases[i].width, out.data);
	}
}

/* From 24 columns on, and if the others need no more, the last column is wrapped beside them. */
Test(ctl_table, has_its_last_column_where_there_is_room)
{
	static const struct table_column two[] = {{"NAME", false}, {"TEXT", false}};
	static const char text[] = "words of a text that is long";
	static const struct {
		const char *name;
		size_t width;
		const char *row;
	} cases[] = {
		{"ab", 34, "ab    words of a text that is long\n"},
		{"ab", 33, "ab    words of a text that is\n      long\n"},
		{"ab", 30, "ab    words of a text that is\n      long\n"},
		{"ab", 29, "ab\n    words of a text that is\n    long\n"},
		{"a name of 23 characters", 50,
			"a name of 23 characters  words of a text that is\n"
			"                         long\n"},
		{"a name of 24 characters!", 51,
			"a name of 24 characters!\n    words of a text that is long\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(table_deinit) struct table table = {0};
		cleanup(buffer_deinit) struct buffer out = {0};

		table_init(&table, two, 2);
		table_add(&table, cases[i].name);
		table_add(&table, text);
		WRITE(table, cases[i].width);
		cr_expect_str_eq(strchr(out.data, '\n') + 1, cases[i].row, "%zu\n%s",
			cases[i].width, out.data);
	}
}

Test(ctl_table, is_whole_or_an_error_when_memory_is_short)
{
	static const char *const cells[] = {
		"a", "1", "a text that is too long for one line", "b", "2", "x"};

	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(table_deinit) struct table table = {0};
		cleanup(buffer_deinit) struct buffer out = {0};

		table_init(&table, columns, 3);
		for (size_t i = 0; i < 6; i++)
			table_add(&table, cells[i]);
		table_write(&table, n % 2 ? 12 : 40, "", "", &out);
		cr_expect_eq(buffer_status(&out), scarce_has_failed() ? -ENOMEM : 0, "%zu", n);
	}
}
