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
