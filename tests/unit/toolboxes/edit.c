/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "diff.h"
#include "edit.h"
#include "glob.h"

static void expect_edit(const char *before, const char *old, const char *new, const char *after)
{
	struct text text = {0};
	struct text why = {0};

	text_put(&text, before);
	cr_expect(edit_replace(&text, old, new, &why), "%s: %s", before, text_string(&why));
	cr_expect_str_eq(text_string(&text), after);
	text_free(&text);
	text_free(&why);
}

static void expect_no_edit(const char *before, const char *old, const char *words)
{
	struct text text = {0};
	struct text why = {0};

	text_put(&text, before);
	cr_expect_not(edit_replace(&text, old, "x", &why));
	cr_expect(strstr(text_string(&why), words), "%s", text_string(&why));
	cr_expect_str_eq(text_string(&text), before);
	text_free(&text);
	text_free(&why);
}

Test(edit, replaces_a_text_as_it_is)
{
	expect_edit("a b c\n", "b", "$& $1 \\0", "a $& $1 \\0 c\n");
	expect_edit("a\nb\n", "a\nb", "c", "c\n");
	expect_edit("a\nb\n", "b\n", "", "a\n");
}

Test(edit, keeps_line_ends)
{
	expect_edit("a\r\nb\r\n", "a\nb", "c\nd", "c\r\nd\r\n");
	expect_edit("a\nb\n", "a\r\nb", "c\r\nd", "c\nd\n");
}

Test(edit, finds_lines_that_are_indented_otherwise)
{
	expect_edit(
		"\tif (x)\n\t\ty();\n", "if (x)\n\ty();", "if (z)\n\ty();", "\tif (z)\n\t\ty();\n");
	expect_edit("  a  \n  b\nc\n", "a\nb\n", "d\n\ne\n", "  d\n\n  e\nc\n");
	expect_edit("\t\t\ta\n\t\tb\n", "\t\ta\n\tb\n", "\t\tc\n\t}\n}\n", "\t\t\tc\n\t\t}\n\t}\n");
	expect_edit(" a\n", "\t\t\ta", "\t\t\tb\nc", " b\nc\n");
}

Test(edit, refuses_what_is_not_there_once)
{
	expect_no_edit("a b a", "a", "Found 2 matches for edit");
	expect_no_edit(" a\nb\n  a\n", "a \n", "Found 2 matches");
	expect_no_edit("abc\n", "d", "Could not find exact match for edit:\nd");
	expect_no_edit("abc\n", "", "oldText is empty");
}

static void expect_diff(const char *before, const char *after, const char *lines)
{
	struct text a = {0};
	struct text b = {0};
	struct text out = {0};

	text_put(&a, before);
	text_put(&b, after);
	diff_write(&out, "f", &a, &b);
	cr_expect_str_eq(text_string(&out), lines);
	text_free(&a);
	text_free(&b);
	text_free(&out);
}

Test(diff, is_unified)
{
	expect_diff("a\n", "a\n", "");
	expect_diff("a\nb\nc\n", "a\nx\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
	expect_diff("", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
	expect_diff("a", "a\n",
		"--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
	expect_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
		"x\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ny\n",
		"--- f\n+++ f\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n"
		"-12\n+y\n");
}

Test(glob, matches_paths)
{
	cr_expect(glob_match("*.c", "a.c"));
	cr_expect_not(glob_match("*.c", "a/b.c"));
	cr_expect(glob_match("**/*.c", "a/b.c"));
	cr_expect(glob_match("**/*.c", "b.c"));
	cr_expect(glob_match("a/**", "a/b/c"));
	cr_expect(glob_match("a/**/d", "a/d"));
	cr_expect(glob_match("a/**/d", "a/b/c/d"));
	cr_expect(glob_match("*.{c,h}", "a.h"));
	cr_expect(glob_match("{a,b{c,d}}e", "bde"));
	cr_expect_not(glob_match("{a,b{c,d}}e", "be"));
	cr_expect(glob_match("[a-c]?[!x]", "b1y"));
	cr_expect_not(glob_match("[a-c]?[!x]", "b1x"));
	cr_expect(glob_match("\\*", "*"));
	cr_expect_not(glob_match("\\*", "a"));
	cr_expect_not(glob_match("a", "ab"));
	cr_expect_not(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
