/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sessions.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct sessions sessions;

static void set_up(void)
{
	sessions_init(&sessions);
}

static void tear_down(void)
{
	sessions_deinit(&sessions);
}

TestSuite(sessions, .timeout = 60, .init = set_up, .fini = tear_down);

Test(sessions, belong_to_a_source_and_an_id)
{
	struct session *one = sessions_take(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"x\""));

	cr_assert(one);
	cr_expect_eq(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"x\"")), one);
	cr_expect_null(sessions_find(&sessions, TEXT_VIEW("\"b\""), TEXT_VIEW("\"x\"")));
	cr_expect_null(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"y\"")));
	cr_expect_null(sessions_find(&sessions, TEXT_VIEW(""), TEXT_VIEW("\"x\"")));
}

static struct session *take_number(unsigned int i)
{
	char id[16];

	snprintf(id, sizeof(id), "\"%u\"", i);
	return sessions_take(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW(id));
}

Test(sessions, that_were_used_longest_ago_give_way)
{
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		cr_assert(take_number(i));
	cr_assert(take_number(0)); /* used again */
	cr_assert(take_number(SESSIONS_MAX));
	cr_expect_eq(sessions.n_items, SESSIONS_MAX);
	cr_expect(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"0\"")));
	cr_expect_null(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"1\"")));
}

Test(sessions, with_a_turn_stay)
{
	for (unsigned int i = 0; i < SESSIONS_MAX; i++)
		take_number(i)->chat = (struct chat *)&sessions;
	cr_expect_null(take_number(SESSIONS_MAX));
}
