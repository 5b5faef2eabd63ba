/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/chat/questions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"

/* The questions that a person answers in toolboxctl chat. */

static struct chat_questions questions;

static void forget_all(void)
{
	chat_questions_deinit(&questions);
}

TestSuite(chat_questions, .fini = forget_all, .timeout = 60);

static bool add(const char *id)
{
	cleanup(json_tape_cleanup) struct json_tape event = {0};
	struct question_mark mark = {0};
	char text[64];

	snprintf(mark.id, sizeof(mark.id), "%s", id);
	snprintf(text, sizeof(text), "{\"id\":\"%s\"}", id);
	cr_assert_eq(json_tape_read(&event, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	return chat_questions_add(&questions, &mark, &event);
}

static const char *id_at(size_t i)
{
	cr_assert(i < questions.n_items);
	return questions.items[i].mark.id;
}

Test(chat_questions, keep_their_order_and_the_first_is_shown_once)
{
	cr_expect(add("a"));
	cr_expect_not(add("b"));
	cr_expect_not(add("a"), "it is there");
	cr_expect_not(add("c"));
	cr_assert_eq(questions.n_items, 3);
	cr_expect_not(chat_questions_drop(&questions, 1), "the shown one stays");
	cr_expect_str_eq(id_at(0), "a");
	cr_expect_str_eq(id_at(1), "c");
	cr_expect(chat_questions_drop(&questions, 0));
	cr_expect_str_eq(id_at(0), "c");
	cr_expect_eq(memcmp(questions.items[0].text.data, "{\"id\":\"c\"}", 10), 0);
	cr_expect_not(chat_questions_drop(&questions, 0), "none is left");
	cr_expect_not(chat_questions_drop(&questions, 0), "there is none");
	cr_expect(add("a"), "it may come again");
}

Test(chat_questions, are_bounded)
{
	char id[8];

	for (int i = 0; i < CHAT_QUESTIONS_MAX + 3; i++) {
		snprintf(id, sizeof(id), "q%d", i);
		cr_expect_eq(add(id), i == 0);
	}
	cr_expect_eq(questions.n_items, CHAT_QUESTIONS_MAX);
	cr_expect_not(chat_questions_drop(&questions, CHAT_QUESTIONS_MAX));
	chat_questions_drop(&questions, CHAT_QUESTIONS_MAX - 1);
	add("last");
	cr_expect_str_eq(id_at(CHAT_QUESTIONS_MAX - 1), "last");
}

/* A person is attached anew in time, also when nothing looks for a while. */
Test(chat_questions, are_answered_here_again_before_the_time_is_over)
{
	uint64_t due_ms = 0;

	cr_expect(chat_is_due(&due_ms, 1000), "at the begin of a turn");
	cr_expect_not(chat_is_due(&due_ms, 1000 + CHAT_RENEW_MS - 1));
	cr_expect(chat_is_due(&due_ms, 1000 + CHAT_RENEW_MS));
	cr_expect_not(chat_is_due(&due_ms, 1001 + CHAT_RENEW_MS));
	cr_expect(chat_is_due(&due_ms, 1000 + 9 * CHAT_RENEW_MS));
	cr_expect_eq(due_ms, 1000 + 10 * CHAT_RENEW_MS);
	cr_expect_lt(CHAT_RENEW_MS, CHAT_WATCH_SECONDS * 1000);
}
