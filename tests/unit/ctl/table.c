/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/table.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

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
