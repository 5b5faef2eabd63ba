/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/crowd.h"

#include <stdlib.h>

#include "util/assert.h"
#include "util/network.h"

static struct crowd_member *member_of(struct list *link)
{
	return container_of(link, struct crowd_member, link);
}

void crowd_init(struct crowd *crowd)
{
	list_init(&crowd->list);
}

void crowd_enter(struct crowd *crowd, struct crowd_member *member, struct account *account, int fd)
{
	struct in6_addr address;
	char holder[NETWORK_BYTES];

	if (network_read_peer(fd, &address)) {
		network_write_holder(&address, holder);
		account_set_holder(account, holder);
	}
	check(!member->link.next);
	member->holder = account->holder;
	list_append(&crowd->list, &member->link);
}

void crowd_leave(struct crowd_member *member)
{
	list_remove(&member->link);
}

static int compare_holders(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a;
	uint64_t second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

/* Return the holder of the longest run among the @n sorted @holders. */
static uint64_t find_most(const uint64_t *holders, size_t n)
{
	uint64_t most = holders[0];
	size_t longest = 0;
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		run = i > 0 && holders[i] == holders[i - 1] ? run + 1 : 1;
		if (run <= longest)
			continue;
		longest = run;
		most = holders[i];
	}
	return most;
}

/* Return the holder with the most clients. */
static uint64_t find_largest(const struct crowd *crowd)
{
	uint64_t holders[CROWD_MAX];
	size_t n = 0;

	list_for_each(link, &crowd->list)
		if (n < CROWD_MAX)
			holders[n++] = member_of(link)->holder;
	qsort(holders, n, sizeof(*holders), compare_holders);
	return find_most(holders, n);
}

struct crowd_member *crowd_find_least(const struct crowd *crowd)
{
	struct crowd_member *least = NULL;
	uint64_t holder;

	if (list_is_empty(&crowd->list))
		return NULL;
	holder = find_largest(crowd);
	list_for_each(link, &crowd->list) {
		struct crowd_member *member = member_of(link);

		if (member->holder == holder && (!least || member->heard_ms < least->heard_ms))
			least = member;
	}
	return least;
}
