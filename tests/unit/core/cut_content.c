/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/cut_content.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "quotes.h"

/* Check that @text, cut to @max, is @wanted (NULL: it is not cut). */
static void expect_cut(const char *text, uint32_t max, const char *wanted)
{
	cleanup_free char *given = quoted(text);
	cleanup_free char *expected = quoted(wanted ? wanted : text);
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, given, strlen(given), 64, NULL), 0, "%s", given);
	cut_content_write(&out, &tape, given, strlen(given), max);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(
		out.data, expected, "%s\ngives    %s\nexpected %s", given, out.data, expected);
}

#define TEXT(text) "{'type':'text','text':'" text "'}"
#define HINT(chars, max)                                                                           \
	"'truncated':true,'actual_chars':" #chars ",'max_chars':" #max                             \
	",'hint':'The result has " #chars " characters, " #max                                     \
	" are allowed: ask for less, or raise result_max_chars.'"

Test(cut_content, cuts_the_texts_of_blocks_and_says_so)
{
	static const char *const text =
		"{'content': [{'text': 'h\\u00e9llo', 'type': 'text', 'x': "
		"[1, 2]},{'type':'image','text':'long'}," TEXT("€urope") ",7," TEXT("z") "]}";

	expect_cut(text, 12, NULL);
	expect_cut(text, 11,
		"{'content':[{'text':'héllo','type':'text','x':[1,2]},{'type':'image','text':"
		"'long'}," TEXT("€urope") ",7]," HINT(12, 11) "}");
	expect_cut(text, 6,
		"{'content':[{'text':'héllo','type':'text','x':[1,2]},{'type':'image','text':"
		"'long'}," TEXT("€") ",7]," HINT(12, 6) "}");
	expect_cut("{'content':[" TEXT("") "," TEXT("a") "]}", 0,
		"{'content':[" TEXT("") "]," HINT(1, 0) "}");
}

Test(cut_content, cuts_the_texts_of_resources)
{
	expect_cut("{'content':[{'type':'resource','resource':{'uri':'x:y','text':'long'},'a':1},{"
		   "'type':'resource','resource':{'uri':'x:y','blob':'AAAAAAAA'}}]}",
		3,
		"{'content':[{'type':'resource','resource':{'uri':'x:y','text':'lon'},'a':1},{"
		"'type':'resource','resource':{'uri':'x:y','blob':'AAAAAAAA'}}]," HINT(4, 3) "}");
}

Test(cut_content, replaces_a_structured_value_that_is_too_long)
{
	expect_cut("{'content':[" TEXT("abcd") "],'structured':{'a': 1}}", 7, NULL);
	expect_cut("{'content':[" TEXT("abcd") "],'structured':{'a': 12}}", 7,
		"{'content':[" TEXT("abcd") "]," HINT(
			8, 7) ",'structured':{'truncated':true,"
			      "'reason':'too_long','actual_chars':8,'max_chars':7,'hint':'The "
			      "result has 8 "
			      "characters, 7 are allowed: ask for less, or raise "
			      "result_max_chars.','head':"
			      "'{\\'a\\':12'}}");
	expect_cut("{'content':[" TEXT("abcdefghij") "],'structured':{'a':1}}", 7,
		"{'content':[" TEXT("abcdefg") "]," HINT(10, 7) ",'structured':{'a':1}}");
}

Test(cut_content, counts_the_characters_of_escapes)
{
	expect_cut("{'content':[],'structured':{'a':'\\u00e9\\u00e9'}}", 10, NULL);
	expect_cut("{'content':[],'structured':{'a':'\\u00e9\\u00e9'}}", 9,
		"{'content':[]," HINT(10, 9) ",'structured':{'truncated':true,'reason':'too_long',"
					     "'actual_chars':10,'max_chars':9,'hint':'The result "
					     "has 10 characters, 9 are "
					     "allowed: ask for less, or raise "
					     "result_max_chars.','head':'{\\'a\\':\\'éé\\''}}");
}

Test(cut_content, leaves_what_has_no_content)
{
	expect_cut("[]", 0, NULL);
	expect_cut("{'content':'abc'}", 0, NULL);
	expect_cut("{'content':[{'type':'text','text':1},[],{}]}", 0, NULL);
}
