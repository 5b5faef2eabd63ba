/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/match.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(turn_match, .timeout = 60);

/* The answer of a call with the result or the error @text. */
static void expect_answer(const char *spoken, bool is_ok, const char *text, size_t chars_max,
	bool is_face, const char *expected)
{
	struct turn_call call = {.spoken = spoken, .is_ok = is_ok};
	cleanup(buffer_deinit) struct buffer lang = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&call.args, "{}");
	buffer_append_string(is_ok ? &call.result : &call.error, text);
	cr_expect_eq(turn_match_answer(&call, &lang, chars_max, &out), is_face, "%s", text);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, expected, "%s", out.data);
	buffer_deinit(&call.args);
	buffer_deinit(&call.result);
	buffer_deinit(&call.error);
}

Test(turn_match, answers_with_a_face)
{
	expect_answer("{\"en\":{\"done\":\"That makes {sum}.\"}}", true, "{\"sum\":7}", 100, true,
		"That makes 7.");
}

Test(turn_match, without_a_face_has_nothing_to_be_spoken)
{
	expect_answer(NULL, true, "{\"sum\":7,\"of\":2}", 100, false, "{\"sum\":7,\"of\":2}");
	expect_answer(NULL, true, "{\"text\":\"noon\"}", 100, false, "noon");
	expect_answer(NULL, false, "It failed", 100, false, "It failed");
	expect_answer("{\"en\":{\"done\":\"{absent}\"}}", true, "{\"sum\":7}", 100, false, "7");
}

Test(turn_match, without_a_face_is_cut)
{
	expect_answer(NULL, true, "{\"text\":\"äöü noon\"}", 5, false, "äöü n");
	expect_answer(NULL, false, "It failed", 2, false, "It");
}
