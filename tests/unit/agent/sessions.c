/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sessions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

Test(sessions, together_have_a_bound)
{
	size_t size = HISTORY_BYTES - 100;
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	text[size] = '\0';
	for (unsigned int i = 0; i < 12; i++)
		cr_assert_eq(history_add_user(&take_number(i)->history, TEXT_VIEW(text)), 0);
	free(text);
	take_number(0)->chat = (struct chat *)&sessions;
	take_number(1); /* used again */
	sessions_trim(&sessions);
	cr_expect_eq(sessions.n_items, 8);
	cr_expect(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"0\"")));
	cr_expect(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"1\"")));
	cr_expect_null(sessions_find(&sessions, TEXT_VIEW("\"a\""), TEXT_VIEW("\"2\"")));
}

Test(sessions, with_turns_are_never_trimmed)
{
	take_number(0)->chat = (struct chat *)&sessions;
	sessions_trim(&sessions);
	cr_expect_eq(sessions.n_items, 1);
}
