/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/crowd.h"

#include <criterion/criterion.h>

static struct crowd crowd;
static struct account accounts[4];

static void begin(void)
{
	crowd_init(&crowd);
}

TestSuite(crowd, .init = begin);

/* Let a client of the holder number @holder enter, without a socket. */
static void enter(struct crowd_member *member, unsigned int holder, uint64_t heard_ms)
{
	*member = (struct crowd_member){.heard_ms = heard_ms};
	accounts[holder].holder = holder;
	crowd_enter(&crowd, member, &accounts[holder], -1);
}

Test(crowd, has_nobody_to_give_way_when_it_is_empty)
{
	cr_expect_null(crowd_find_least(&crowd));
}

Test(crowd, gives_way_by_the_holder_with_most_clients)
{
	struct crowd_member members[5];

	enter(&members[0], 1, 0);
	for (int i = 1; i < 4; i++)
		enter(&members[i], 2, 100);
	enter(&members[4], 3, 0);
	cr_expect_eq(crowd_find_least(&crowd), &members[1]);
	crowd_leave(&members[1]);
	crowd_leave(&members[2]);
	enter(&members[1], 1, 50);
	cr_expect_eq(crowd_find_least(&crowd), &members[0]);
}

Test(crowd, gives_way_by_the_client_that_has_sent_nothing_for_longest)
{
	struct crowd_member members[4];

	enter(&members[0], 1, 10);
	enter(&members[1], 1, 0);
	enter(&members[2], 1, 0);
	enter(&members[3], 1, 5);
	cr_expect_eq(crowd_find_least(&crowd), &members[1]);
	crowd_leave(&members[1]);
	cr_expect_eq(crowd_find_least(&crowd), &members[2]);
	crowd_leave(&members[2]);
	cr_expect_eq(crowd_find_least(&crowd), &members[3]);
	members[3].heard_ms = 20;
	cr_expect_eq(crowd_find_least(&crowd), &members[0]);
}
