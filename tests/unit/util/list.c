/* SPDX-License-Identifier: Apache-2.0 */
#include "util/list.h"

#include <criterion/criterion.h>

struct number {
	int value;
	struct list link;
};

static int value_of(struct list *link)
{
	return container_of(link, struct number, link)->value;
}

/* Return the values of @head as one decimal number. */
static int digits(const struct list *head)
{
	int sum = 0;

	list_for_each(link, head)
		sum = sum * 10 + value_of(link);
	return sum;
}

struct numbers {
	struct list head;
	struct number items[3];
};

static void fill(struct numbers *numbers)
{
	list_init(&numbers->head);
	for (int i = 0; i < 3; i++) {
		numbers->items[i].value = i + 1;
		list_append(&numbers->head, &numbers->items[i].link);
	}
}

Test(list, is_walked_in_the_order_of_appending)
{
	struct numbers numbers;

	fill(&numbers);
	cr_expect_eq(digits(&numbers.head), 123);
}

Test(list, closes_the_gap_that_a_removed_link_leaves)
{
	struct numbers numbers;

	fill(&numbers);
	list_remove(&numbers.items[1].link);
	cr_expect_eq(digits(&numbers.head), 13);
	cr_expect(list_is_empty(&numbers.items[1].link));
	list_remove(&numbers.items[1].link);
	list_insert_before(&numbers.items[0].link, &numbers.items[1].link);
	cr_expect_eq(digits(&numbers.head), 213);
}

Test(list, may_lose_the_link_that_the_walk_has_reached)
{
	struct numbers numbers;

	fill(&numbers);
	list_for_each(link, &numbers.head)
		if (value_of(link) != 3)
			list_remove(link);
	cr_expect_eq(digits(&numbers.head), 3);
}

Test(list, gives_its_first_link_until_it_is_empty)
{
	struct numbers numbers;

	fill(&numbers);
	for (int i = 1; i <= 3; i++)
		cr_expect_eq(value_of(list_take_first(&numbers.head)), i);
	cr_expect(list_is_empty(&numbers.head));
	cr_expect_null(list_take_first(&numbers.head));
}
