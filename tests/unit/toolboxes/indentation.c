/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "indentation.h"

static const char *const code[] = {
	"int a;",       /* 0 */
	"",             /* 1 */
	"// about f",   /* 2 */
	"void f(void)", /* 3 */
	"{",            /* 4 */
	"\tif (x) {",   /* 5 */
	"\t\t// deep",  /* 6 */
	"\t\ty();",     /* 7 */
	"",             /* 8 */
	"\t\tz();",     /* 9 */
	"\t}",          /* 10 */
	"\twhile (u)",  /* 11 */
	"\t\tv();",     /* 12 */
	"}",            /* 13 */
};
#define N (sizeof(code) / sizeof(code[0]))

static void expect_block(
	struct indentation wanted, size_t anchor, size_t max, size_t first, size_t last)
{
	struct indented lines[N];
	size_t begin;
	size_t end;

	for (size_t i = 0; i < N; i++)
		lines[i] = indented_read(code[i], strlen(code[i]));
	indentation_find(&wanted, lines, N, anchor, max, &begin, &end);
	cr_expect_eq(begin, first, "anchor %zu: from %zu", anchor, begin);
	cr_expect_eq(end, last + 1, "anchor %zu: to %zu", anchor, end - 1);
}

Test(indentation, counts_four_columns_for_a_tab)
{
	cr_expect_eq(indented_read("\t  x", 4).columns, 6);
	cr_expect(indented_read("  ", 2).is_blank);
	cr_expect(indented_read(" # x", 4).is_comment);
	cr_expect(indented_read("-- x", 4).is_comment);
	cr_expect_not(indented_read("- x", 3).is_comment);
}

Test(indentation, of_no_level_is_all_there_is)
{
	expect_block((struct indentation){0, true, true}, 7, 100, 0, 13);
}

Test(indentation, goes_up_as_many_levels_as_wanted)
{
	expect_block((struct indentation){1, true, true}, 7, 100, 5, 12);
	expect_block((struct indentation){1, false, true}, 7, 100, 5, 10);
	expect_block((struct indentation){2, true, true}, 7, 100, 0, 13);
}

Test(indentation, leaves_out_a_header_less_indented_than_the_anchor)
{
	expect_block((struct indentation){2, false, true}, 7, 100, 4, 13);
	expect_block((struct indentation){0, true, false}, 7, 100, 3, 13);
}

Test(indentation, ends_with_so_many_lines)
{
	expect_block((struct indentation){0, true, true}, 7, 1, 7, 7);
	expect_block((struct indentation){0, true, true}, 7, 3, 5, 7);
	expect_block((struct indentation){1, true, true}, 7, 4, 5, 8);
}
