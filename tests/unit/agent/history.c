/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/history.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "quotes.h"
#include "util/cleanup.h"

/* Conversations, and their limits. JSON is written with ' in place of ". */

static struct history history;

static void forget(void)
{
	history_deinit(&history);
}

TestSuite(history, .timeout = 60, .fini = forget);

static void set(struct buffer *buffer, const char *text)
{
	buffer_reset(buffer);
	buffer_append_string(buffer, text);
}

static void add_user(const char *text)
{
	cr_assert_eq(history_add_user(&history, TEXT_VIEW(text)), 0);
}

static void add_answer(const char *text)
{
	cr_assert_eq(history_add_assistant(&history, TEXT_VIEW(text), NULL, 0, false), 0);
}

static void add_call(const char *id, const char *name, const char *result)
{
	struct reply_call call = {0};

	set(&call.id, id);
	set(&call.name, name);
	set(&call.arguments, "{}");
	cr_assert_eq(history_add_assistant(&history, TEXT_VIEW(""), &call, 1, false), 0);
	cr_assert_eq(history_add_tool(&history, &call.id, &call.name, TEXT_VIEW(result)), 0);
	buffer_deinit(&call.id);
	buffer_deinit(&call.name);
	buffer_deinit(&call.arguments);
}

static void expect_history(const char *expected)
{
	cleanup_free char *json = quoted(expected);
	cleanup(buffer_deinit) struct buffer out = {0};

	history_write(&history, &out);
	cr_assert(buffer_terminate(&out));
	cr_expect_str_eq(out.data, json, "%s", out.data);
}

static void trim(uint32_t messages, uint32_t tokens, bool masks)
{
	history_trim(&history, &(struct history_limits){messages, tokens, masks});
}

#define USER(text)   ",{'role':'user','content':'" text "'}"
#define ANSWER(text) ",{'role':'assistant','content':'" text "'}"
#define CALL(id, name)                                                                             \
	",{'role':'assistant','content':null,'tool_calls':[{'id':'" id                             \
	"','type':'function','function':{'name':'" name "','arguments':'{}'}}]}"
#define RESULT(id, text) ",{'role':'tool','content':'" text "','tool_call_id':'" id "'}"

Test(history, has_messages_as_a_server_wants_them)
{
	add_user("hi");
	add_call("a", "add", "7");
	add_answer("It is 7.");
	expect_history(USER("hi") CALL("a", "add") RESULT("a", "7") ANSWER("It is 7."));
}

Test(history, marks_an_answer_that_was_interrupted)
{
	add_user("hi");
	cr_assert_eq(history_add_assistant(&history, TEXT_VIEW("It"), NULL, 0, true), 0);
	cr_assert_eq(history_add_assistant(&history, TEXT_VIEW(""), NULL, 0, true), 0);
	expect_history(USER("hi") ANSWER("It [interrupted]") ANSWER("[interrupted]"));
}

Test(history, drops_whole_rounds_over_the_messages)
{
	add_user("1");
	add_call("a", "f", "x");
	add_answer("one");
	add_user("2");
	add_answer("two");
	trim(5, 0, true);
	expect_history(USER("2") ANSWER("two"));
}

Test(history, keeps_the_last_round_whole)
{
	add_user("1");
	add_answer("one");
	add_user("2");
	add_call("a", "f", "x");
	add_call("b", "f", "y");
	add_answer("two");
	trim(1, 1, false);
	expect_history(USER("2") CALL("a", "f") RESULT("a", "x") CALL("b", "f") RESULT("b", "y")
			ANSWER("two"));
}

Test(history, has_no_limits_at_zero)
{
	for (int i = 0; i < 100; i++)
		add_user("many");
	trim(0, 0, true);
	cr_expect_eq(history.n_messages, 100);
}

static void add_two_results(void)
{
	add_user("1");
	add_call("a", "f", "0123456789012345678901234567890123456789");
	add_answer("one");
	add_user("2");
	add_call("b", "g", "0123456789012345678901234567890123456789");
	add_answer("two");
	add_user("3");
	add_answer("three");
}

Test(history, leaves_out_the_oldest_results_first)
{
	add_two_results();
	trim(0, 24, true);
	expect_history(USER("1") CALL("a", "f") RESULT("a", "[result of f left out]") ANSWER("one")
			USER("2") CALL("b", "g")
				RESULT("b", "0123456789012345678901234567890123456789")
					ANSWER("two") USER("3") ANSWER("three"));
}

Test(history, drops_rounds_when_masks_do_not_suffice)
{
	add_two_results();
	trim(0, 12, true);
	expect_history(USER("2") CALL("b", "g") RESULT("b", "[result of g left out]") ANSWER("two")
			USER("3") ANSWER("three"));
}

Test(history, drops_rounds_without_masks)
{
	add_two_results();
	trim(0, 20, false);
	expect_history(
		USER("2") CALL("b", "g") RESULT("b", "0123456789012345678901234567890123456789")
			ANSWER("two") USER("3") ANSWER("three"));
}

Test(history, never_masks_the_last_round)
{
	add_user("1");
	add_call("a", "f", "0123456789012345678901234567890123456789");
	trim(0, 1, true);
	expect_history(
		USER("1") CALL("a", "f") RESULT("a", "0123456789012345678901234567890123456789"));
}

Test(history, keeps_a_short_result)
{
	add_user("1");
	add_call("a", "f", "x");
	add_user("2");
	trim(0, 1, true);
	expect_history(USER("2"));
}

Test(history, is_bounded_in_bytes)
{
	size_t size = HISTORY_BYTES / 2;
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	text[size] = '\0';
	for (int i = 0; i < 3; i++) {
		add_user(text);
		trim(0, 0, true);
	}
	free(text);
	cr_expect_leq(history.n_bytes, HISTORY_BYTES);
	cr_expect_eq(history.n_messages, 1);
}

Test(history, counts_what_is_left)
{
	add_two_results();
	trim(0, 20, false);
	trim(1, 0, false);
	cr_expect_eq(history.n_chars, strlen("3three"));
}

Test(history, lists_its_last_messages)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	add_user("hi");
	add_answer("yo");
	history_list(&history, 1, &out);
	cr_assert(buffer_terminate(&out));
	cr_expect(strstr(out.data, "[{\"role\":\"assistant\",\"text\":\"yo\",\"time\":\"20"), "%s",
		out.data);
	cr_expect_not(strstr(out.data, "user"));
}
