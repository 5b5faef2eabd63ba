/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/pending.h"

#include <criterion/criterion.h>
#include <string.h>

Test(pending, questions_are_found_by_their_ids_and_calls)
{
	struct pending pending;
	struct pending_question *a, *b;
	int call;

	pending_init(&pending);
	a = pending_add(&pending, 10, NULL);
	b = pending_add(&pending, 5, &call);
	cr_assert(a && b);
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
	cr_assert(pending_add(&pending, 10, NULL));
	b = pending_add(&pending, 5, NULL);
	cr_assert(b);
	cr_expect_eq(pending_next_ms(&pending), 5);
	cr_expect_null(pending_expired(&pending, 4));
	cr_expect_eq(pending_expired(&pending, 5), b);
	pending_deinit(&pending);
}
