/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/pending.h"

#include <criterion/criterion.h>
#include <string.h>

/* Draft a question about @call and ask it until @expires_ms. */
static struct pending_question *ask(struct pending *pending, uint64_t expires_ms, void *call)
{
	struct pending_question *question = pending_new(pending, call);

	cr_assert_not_null(question);
	pending_ask(pending, question, expires_ms);
	return question;
}

Test(pending, questions_are_found_by_their_ids_and_calls)
{
	struct pending pending;
	struct pending_question *a, *b;
	int call;

	pending_init(&pending);
	a = ask(&pending, 10, NULL);
	b = ask(&pending, 5, &call);
	cr_expect_eq(pending.n, 2);
	cr_expect_eq(strlen(a->id), HEX_ID_CHARS);
	cr_expect_str_neq(a->id, b->id);
	cr_expect_eq(pending_find(&pending, a->id, HEX_ID_CHARS), a);
	cr_expect_eq(pending_find(&pending, b->id, HEX_ID_CHARS), b);
	cr_expect_null(pending_find(&pending, b->id, HEX_ID_CHARS - 1));
	cr_expect_null(pending_find(&pending, "", 0));
	cr_expect_eq(pending_find_call(&pending, &call), b);
	pending_take(&pending, b);
	pending_question_free(b);
	cr_expect_null(pending_find_call(&pending, &call));
	pending_deinit(&pending);
	cr_expect_eq(pending.n, 0);
}

Test(pending, questions_expire_by_their_own_time)
{
	struct pending pending;
	struct pending_question *b;

	pending_init(&pending);
	cr_expect_eq(pending_next_ms(&pending), UINT64_MAX);
	ask(&pending, 10, NULL);
	b = ask(&pending, 5, NULL);
	cr_expect_eq(pending_next_ms(&pending), 5);
	cr_expect_null(pending_expired(&pending, 4));
	cr_expect_eq(pending_expired(&pending, 5), b);
	pending_deinit(&pending);
}

Test(pending, questions_are_reported_at_their_own_time)
{
	struct pending pending;
	struct pending_question *a, *b;

	pending_init(&pending);
	a = ask(&pending, 100, NULL);
	b = ask(&pending, 100, NULL);
	ask(&pending, 100, NULL);
	cr_expect_null(pending_reported(&pending, 100));
	a->report_ms = 20;
	b->report_ms = 10;
	cr_expect_eq(pending_next_ms(&pending), 10);
	cr_expect_null(pending_reported(&pending, 9));
	cr_expect_eq(pending_reported(&pending, 10), b);
	b->report_ms = 0;
	cr_expect_eq(pending_next_ms(&pending), 20);
	cr_expect_null(pending_reported(&pending, 19));
	cr_expect_eq(pending_reported(&pending, 20), a);
	pending_deinit(&pending);
}

static bool is_of_account(const struct pending_question *question, const void *account)
{
	return question->caller && question->caller->account == account;
}

Test(pending, a_draft_neither_expires_nor_is_answered)
{
	struct account account = {0};
	struct policy_caller *caller = calloc(1, sizeof(*caller));
	struct pending pending;
	struct pending_question *draft;
	int call;

	pending_init(&pending);
	draft = pending_new(&pending, &call);
	cr_assert(draft && caller);
	caller->account = &account;
	account.references = 2;
	draft->caller = caller;
	cr_expect_eq(pending.n, 0);
	cr_expect_null(pending_find(&pending, draft->id, HEX_ID_CHARS));
	cr_expect_null(pending_find_call(&pending, &call));
	cr_expect_null(pending_expired(&pending, UINT64_MAX));
	cr_expect_eq(pending_next_ms(&pending), UINT64_MAX);
	cr_expect_not(pending_withdraw(&pending, is_of_account, &account));
	pending_ask(&pending, draft, 1000);
	cr_expect_eq(pending.n, 1);
	cr_expect_null(pending_find(&pending, draft->id, HEX_ID_CHARS));
	cr_expect_eq(pending_expired(&pending, 0), draft, "its caller has gone meanwhile");
	pending_deinit(&pending);
	cr_expect_eq(pending.n, 0);
}

/* Ask a question of @source on @account, which came in by @door. */
static void ask_as(
	struct pending *pending, enum call_door door, struct account *account, const char *source)
{
	const struct policy_caller caller = {
		.door = door, .account = account, .source = {source, strlen(source)}};
	struct pending_question *question = pending_new(pending, NULL);

	cr_assert_not_null(question);
	question->caller = policy_caller_copy(&caller);
	cr_assert_not_null(question->caller);
	pending_ask(pending, question, 10);
}

static bool has_room(
	struct pending *pending, enum call_door door, struct account *account, const char *source)
{
	const struct policy_caller caller = {
		.door = door, .account = account, .source = {source, strlen(source)}};

	return pending_has_room(pending, &caller, 16);
}

Test(pending, questions_of_a_client_are_half_of_what_the_others_leave)
{
	struct account_book book = {0};
	struct account *first = account_new(&book);
	struct account *second = account_new(&book);
	struct pending pending;
	char source[16];

	cr_assert(first && second);
	pending_init(&pending);
	for (int i = 0; i < 4; i++) {
		cr_expect(has_room(&pending, CALL_DOOR_BUS, first, "a"));
		ask_as(&pending, CALL_DOOR_BUS, first, "a");
	}
	cr_expect_not(has_room(&pending, CALL_DOOR_BUS, first, "a"), "half of that for a source");
	for (int i = 0; i < 4; i++) {
		snprintf(source, sizeof(source), "b%d", i);
		cr_expect(has_room(&pending, CALL_DOOR_BUS, first, source));
		ask_as(&pending, CALL_DOOR_BUS, first, source);
	}
	cr_expect_not(has_room(&pending, CALL_DOOR_BUS, first, "c"));
	cr_expect(has_room(&pending, CALL_DOOR_BUS, second, "a"));
	for (int i = 0; i < 4; i++) {
		cr_expect(has_room(&pending, CALL_DOOR_HTTP, i % 2 ? first : second, "http:x"));
		ask_as(&pending, CALL_DOOR_HTTP, i % 2 ? first : second, "http:x");
	}
	cr_expect_not(
		has_room(&pending, CALL_DOOR_MCP, second, "http:x"), "whatever its connection");
	cr_expect(has_room(&pending, CALL_DOOR_MCP, second, "http:y"));
	cr_expect(has_room(&pending, CALL_DOOR_BUS, second, "a"));
	pending_deinit(&pending);
	account_unref(first);
	account_unref(second);
}

Test(pending, one_question_is_room_for_one)
{
	const struct policy_caller caller = {0};
	struct pending pending;

	pending_init(&pending);
	cr_expect(pending_has_room(&pending, &caller, 1));
	ask_as(&pending, CALL_DOOR_BUS, NULL, "a");
	cr_expect_not(pending_has_room(&pending, &caller, 1));
	pending_deinit(&pending);
}
