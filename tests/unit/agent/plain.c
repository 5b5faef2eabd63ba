/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/plain.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"

/* Text of models without thoughts and signs of Markdown. Each text is taken whole, and byte by
 * byte. */

TestSuite(plain, .timeout = 60);

static void expect_from(const char *text, size_t step, const char *expected)
{
	cleanup(plain_deinit) struct plain plain = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t size = strlen(text);

	for (size_t at = 0; at < size; at += step)
		plain_take(&plain, text + at, size - at < step ? size - at : step, false, &out);
	plain_take(&plain, "", 0, true, &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, expected, "%s in steps of %zu: %s", text, step, out.data);
}

static void expect_plain(const char *text, const char *expected)
{
	expect_from(text, 1, expected);
	expect_from(text, 3, expected);
	expect_from(text, strlen(text) + 1, expected);
}

Test(plain, keeps_plain_text)
{
	expect_plain("It is noon.", "It is noon.");
	expect_plain("Ünïcödé – naïve?\nYes.", "Ünïcödé – naïve?\nYes.");
}

Test(plain, leaves_out_emphasis)
{
	expect_plain("It is **very** *warm* and __dry__.", "It is very warm and dry.");
	expect_plain("~~No~~ yes", "No yes");
}

Test(plain, keeps_signs_that_mean_themselves)
{
	expect_plain("3 * 4 is 12", "3 * 4 is 12");
	expect_plain("the file my_long_name.txt", "the file my_long_name.txt");
	expect_plain("~5 km", "~5 km");
	expect_plain("Well! [sic] done!", "Well! [sic] done!");
	expect_plain("a\\*b \\q", "a*b \\q");
}

Test(plain, leaves_out_signs_of_lines)
{
	expect_plain("# Noon\n## Later\nText", "Noon\nLater\nText");
	expect_plain("- one\n* two\n+ three\n1. four", "one\ntwo\nthree\n1. four");
	expect_plain("> quoted\n> > twice", "quoted\ntwice");
	expect_plain("a\n---\nb", "a\nb");
	expect_plain("a\n-----------\nb", "a\nb");
	expect_plain("-----------x\nb", "-----------x\nb");
	expect_plain("-5 degrees", "-5 degrees");
	expect_plain("#5 is alive", "#5 is alive");
}

Test(plain, leaves_out_fences_and_ticks)
{
	expect_plain("```sh\nls\n```\nUse `ls`.", "ls\nUse ls.");
}

Test(plain, keeps_the_text_of_links)
{
	expect_plain("See [the page](http://x.example/a).", "See the page.");
	expect_plain("![a cat](cat.png) here", "a cat here");
	expect_plain("[open", "[open");
	expect_plain("[a](b", "[a](b");
}

Test(plain, leaves_out_a_leading_thought)
{
	expect_plain("<think>Hm.\nWell.</think>\n\nYes.", "Yes.");
	expect_plain("  <think></think>Yes.", "Yes.");
	expect_plain("<think>never ends", "");
	expect_plain("<thin", "<thin");
	expect_plain("Yes <think>no</think>", "Yes <think>no</think>");
}

Test(plain, holds_few_bytes)
{
	cleanup(plain_deinit) struct plain plain = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	for (int i = 0; i < 1000; i++) {
		plain_take(&plain, i % 2 ? " " : "\n", 1, false, &out);
		cr_assert_eq(plain.held.size, 0);
	}
	plain_take(&plain, "a", 1, false, &out);
	for (int i = 0; i < 1000; i++) {
		plain_take(&plain, "*", 1, false, &out);
		cr_assert_lt(plain.held.size, 64);
	}
	cr_expect_eq(out.size, 1 + 15 * 64);
}

Test(plain, keeps_a_long_run_of_signs)
{
	char text[] = "a ______________________________________________________________"
		      "__________ b";

	expect_plain(text, "a ________________________________________________________________ b");
}

Test(plain, looks_no_farther_than_a_link_is_long)
{
	cleanup(plain_deinit) struct plain plain = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	plain_take(&plain, "[", 1, false, &out);
	for (size_t i = 0; i < PLAIN_LINK_BYTES; i++)
		plain_take(&plain, "x", 1, false, &out);
	cr_expect_eq(out.size, PLAIN_LINK_BYTES + 1);
}
