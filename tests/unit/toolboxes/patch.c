/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "patch_apply.h"
#include "patch_parse.h"

static struct patch patch;
static struct text why;

static void clear(void)
{
	patch_free(&patch);
	text_free(&why);
}

static bool parse(const char *input)
{
	clear();
	return patch_parse(input, strlen(input), &patch, &why);
}

#define WRAPPED(body) "*** Begin Patch\n" body "*** End Patch"

static void expect_refused(const char *input, const char *words)
{
	cr_expect_not(parse(input), "%s", input);
	cr_expect(strstr(text_string(&why), words), "%s\n%s", input, text_string(&why));
	clear();
}

/* Expect that the hunks @hunks turn @before into @after. */
static void expect_update(const char *before, const char *hunks, const char *after)
{
	char input[8192];
	struct text from = {0};
	struct text to = {0};

	snprintf(input, sizeof(input), WRAPPED("*** Update File: f\n%s"), hunks);
	cr_assert(parse(input), "%s: %s", input, text_string(&why));
	text_put(&from, before);
	cr_expect(patch_apply(&patch, &patch.operations[0], "f", &from, &to, &why), "%s: %s", hunks,
		text_string(&why));
	cr_expect_str_eq(text_string(&to), after, "%s:\n%s", hunks, text_string(&to));
	text_free(&from);
	text_free(&to);
	clear();
}

static void expect_failure(const char *before, const char *hunks, const char *words)
{
	char input[8192];
	struct text from = {0};
	struct text to = {0};

	snprintf(input, sizeof(input), WRAPPED("*** Update File: f\n%s"), hunks);
	cr_assert(parse(input), "%s: %s", input, text_string(&why));
	text_put(&from, before);
	cr_expect_not(patch_apply(&patch, &patch.operations[0], "f", &from, &to, &why));
	cr_expect(strstr(text_string(&why), words), "%s", text_string(&why));
	text_free(&from);
	text_free(&to);
	clear();
}

/* ── grammar ─────────────────────────────────────────────────────────────────────────────────── */

Test(patch, has_operations_with_their_lines)
{
	cr_assert(parse(WRAPPED("*** Add File: a/b c\n+one\n+\n"
				"*** Delete File: d\n"
				"*** Update File: e\n*** Move to: f\n@@ head\n-x\n+y\n@@\n z\n")));
	cr_expect_eq(patch.n_operations, 3);
	cr_expect_eq(patch.operations[0].kind, PATCH_ADD);
	cr_expect_eq(patch.operations[0].n_lines, 2);
	cr_expect_eq(patch.operations[0].path.size, strlen("a/b c"));
	cr_expect_eq(patch.operations[1].kind, PATCH_DELETE);
	cr_expect_eq(patch.operations[2].kind, PATCH_UPDATE);
	cr_expect_eq(patch.operations[2].moves_to.size, 1);
	cr_expect_eq(patch.operations[2].n_hunks, 2);
	cr_expect_eq(patch.hunks[0].n_headers, 1);
	cr_expect_eq(patch.hunks[1].number, 11);
	clear();
}

Test(patch, tolerates_what_models_put_around_it)
{
	cr_expect(parse("\n  *** Begin Patch  \r\n *** Add File:  a \r\n+x\r\n*** End Patch \n\n"));
	cr_expect_eq(patch.operations[0].path.size, 1);
	cr_expect_eq(patch.lines[0].text.size, 1);
	cr_expect(parse("<<EOF\n" WRAPPED("*** Delete File: a\n") "\nEOF\n"));
	cr_expect(parse("<<'EOF'\n" WRAPPED("*** Delete File: a\n") "\nEOF"));
	cr_expect(parse("<<\"EOF\"\n" WRAPPED("*** Delete File: a\n") "\nEOF"));
	cr_expect_eq(patch.n_operations, 1);
	cr_expect(parse(
		WRAPPED("\n*** Add File: a\n+x\n\n*** Update File: b\n x\n-y\n\n@@\n+z\n\n")));
	cr_expect_eq(patch.n_hunks, 2);
	cr_expect_eq(patch.hunks[1].n_lines, 1, "empty lines at the end are distance");
	clear();
}

Test(patch, refuses_what_is_none_with_the_line)
{
	expect_refused("", "input cannot be empty");
	expect_refused(" \n", "input cannot be empty");
	expect_refused("hello", "The first line of the patch must be '*** Begin Patch'");
	expect_refused("*** Begin Patch", "The last line of the patch must be '*** End Patch'");
	expect_refused("*** Begin Patch\n*** Add File: a\n+x",
		"The last line of the patch must be '*** End Patch'");
	expect_refused(WRAPPED("*** Frob File: a\n"), "hunk on line 2: '*** Frob File: a' is not a "
						      "valid hunk header. Valid hunk headers");
	expect_refused(WRAPPED("*** Add File: \n+x\n"), "line 2: ");
	expect_refused(WRAPPED("*** Update File: a\n*** Move to: \n"), "line ");
	expect_refused(
		WRAPPED("*** Update File: a\n"), "line 2: Update file hunk for path 'a' is empty");
	expect_refused(WRAPPED("*** Update File: a\n@@\n"),
		"line 3: Update hunk does not contain any lines");
	expect_refused(WRAPPED("*** Update File: a\n@@\n x\n*** End of File\n y\n"),
		"line 6: Expected update hunk to start with a @@ context marker, got: ' y'");
	expect_refused(WRAPPED("*** Update File: a\n@@\nx\n"),
		"line 4: Unexpected line found in update hunk: 'x'. Every line should start");
	expect_refused(WRAPPED("*** Add File: a\nx\n"), "line 3: Every line of an added file");
	expect_refused(
		WRAPPED("*** Add File: a\n+x\n\n+y\n"), "An empty line of an added file is '+'");
}

/* ── the search ──────────────────────────────────────────────────────────────────────────────── */

Test(patch, replaces_lines_where_their_context_is)
{
	expect_update("a\nb\nc\n", "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
	expect_update("a\nb\nc\n", "-b\n", "a\nc\n");
	expect_update("x\ny\nx\ny\n", "@@\n-y\n+1\n@@\n-y\n+2\n", "x\n1\nx\n2\n");
	expect_update("f\n x\ng\n x\n", "@@ g\n- x\n+ y\n", "f\n x\ng\n y\n");
	expect_update("c\nf\n x\nd\nf\n x\n", "@@ d\n@@ f\n- x\n+ y\n", "c\nf\n x\nd\nf\n y\n");
	expect_update("", "@@\n+a\n", "a\n");
}

Test(patch, finds_lines_that_differ_in_white_space_and_punctuation)
{
	expect_update("a  \nb\n", "@@\n a\n-b\n+c\n", "a  \nc\n");
	expect_update("\ta\nb\n", "@@\n a\n-b\n+c\n", "\ta\nc\n");
	expect_update("say \xE2\x80\x9Chi\xE2\x80\x9D \xE2\x80\x93 now\nb\n",
		"@@\n say \"hi\" - now\n-b\n+c\n",
		"say \xE2\x80\x9Chi\xE2\x80\x9D \xE2\x80\x93 now\nc\n");
	expect_update("a\xC2\xA0z\n", "@@\n-a z\n+b\n", "b\n");
	/* A byte that is no UTF-8 is itself, though a space has its number. */
	expect_update("\xA0\xE2\x80\x93\n", "@@\n-\xA0-\n+b\n", "b\n");
	/* An equal line counts before one that is only alike. */
	expect_update("a \na\n", "@@\n-a\n+b\n", "a \nb\n");
}

Test(patch, inserts_behind_its_header_or_at_the_end)
{
	expect_update("a\nb\n", "@@ a\n+x\n", "a\nx\nb\n");
	expect_update("a\nb\n", "@@\n+x\n", "a\nb\nx\n");
	expect_update("a\nb\n", "@@ a\n+x\n*** End of File\n", "a\nb\nx\n");
}

Test(patch, looks_at_the_end_first_where_it_says_so)
{
	expect_update("x\na\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\na\ny\n");
	expect_update("x\na\nx\n", "@@\n-x\n+y\n", "y\na\nx\n");
}

Test(patch, keeps_line_ends)
{
	expect_update("a\r\nb\r\n", "@@\n a\n-b\n+c\n+d\n", "a\r\nc\r\nd\r\n");
	expect_update("a\nb", "@@\n-a\n+c\n", "c\nb");
	expect_update("a\nb", "@@\n b\n+c\n", "a\nb\nc\n");
	expect_update("a\nb\r\nc\n", "@@\n-a\n+x\n", "x\nb\r\nc\n");
}

Test(patch, takes_empty_lines_at_the_end_of_a_hunk_as_distance)
{
	expect_update("a\nb\nc\n", "@@\n-a\n+x\n\n@@\n-c\n+y\n", "x\nb\ny\n");
	expect_update("a\n\nc\n", "@@\n-a\n+x\n\n@@\n-c\n+y\n", "x\n\ny\n");
	expect_update("a\nb\n\nc\n", "@@ a\n+x\n\n@@\n-c\n+y\n", "a\nx\nb\n\ny\n");
	expect_update("a\n\nc\n", "@@\n\n@@\n-c\n+y\n", "a\n\ny\n");
}

Test(patch, fails_with_what_it_looked_for_and_the_nearest_place)
{
	expect_failure("a\nb\nc\n", "@@\n a\n-x\n c\n",
		"Failed to find expected lines in f:\na\nx\nc\nThe hunk is on line 3 of the patch");
	expect_failure("a\nb\nc\n", "@@\n a\n-x\n c\n",
		"Nearest place: line 1, where 2 of 3 lines are equal; line 2 is 'b', the patch has "
		"'x'");
	expect_failure("a\n", "@@ nowhere\n+x\n", "Failed to find context 'nowhere' in f (line 3");
	expect_failure("a\nb\n", "@@\n-b\n+c\n@@\n-a\n+x\n", "before the end of an earlier hunk");
	expect_failure("", "@@\n-a\n", "Failed to find expected lines");
	expect_failure("a\nb\n", "@@\n b\n-c\n d\n",
		"Nearest place: line 2, where 1 of 3 lines are equal, and there the file ends");
	expect_failure("x\nint f(void)\n", "@@ int f\n+x\n",
		"Failed to find context 'int f' in f (line 3 of the patch); nothing was written.\n"
		"Nearest place: line 2 is 'int f(void)'; a header is a whole line after the last "
		"hunk");
}
