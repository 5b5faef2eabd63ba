/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bus/interests.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scarce.h"

static struct interests interests;

static void set_up(void)
{
	interests_init(&interests);
}

static void tear_down(void)
{
	interests_deinit(&interests);
}

TestSuite(interests, .init = set_up, .fini = tear_down);

static bool want(const char *topic)
{
	return interests_want(&interests, topic, strlen(topic));
}

Test(interests, are_wanted_as_long_as_a_run_has_them)
{
	struct interest first = {0};
	struct interest second = {0};

	cr_expect(!want("a.b"));
	cr_assert_eq(interests_add(&interests, &first, "a.b"), 0);
	cr_assert_eq(interests_add(&interests, &second, "a.b"), 0);
	cr_expect(want("a.b"));
	cr_expect(!want("a.c"));
	cr_expect(!want("a.b.c"));
	interests_remove(&interests, &first);
	cr_expect(want("a.b"));
	interests_remove(&interests, &second);
	interests_remove(&interests, &second);
	cr_expect(!want("a.b"));
	cr_expect_eq(interests.n_interests, 0);
}

Test(interests, of_a_topic_are_in_their_order)
{
	struct interest all[3] = {0};
	struct interest_topic *topic;
	size_t n = 0;

	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(interests_add(&interests, &all[i], "a"), 0);
	topic = interests_find(&interests, "a", 1);
	cr_assert_not_null(topic);
	list_for_each(link, &topic->interests)
		cr_expect_eq(container_of(link, struct interest, link), &all[n++]);
	cr_expect_eq(n, 3);
	for (size_t i = 0; i < 3; i++)
		interests_remove(&interests, &all[i]);
}

Test(interests, keep_the_memory_of_some_topics_only)
{
	static struct interest all[2 * INTERESTS_TOPICS_KEPT];
	char topic[32];

	for (size_t i = 0; i < 2 * INTERESTS_TOPICS_KEPT; i++) {
		snprintf(topic, sizeof(topic), "topic.%zu", i);
		cr_assert_eq(interests_add(&interests, &all[i], topic), 0);
	}
	cr_expect(want("topic.300"));
	for (size_t i = 0; i < 2 * INTERESTS_TOPICS_KEPT; i++)
		interests_remove(&interests, &all[i]);
	cr_expect_leq(interests.n_topics, INTERESTS_TOPICS_KEPT);
	cr_expect(!want("topic.300"));
}

Test(interests, report_a_lack_of_memory)
{
	struct interest one = {0};
	int r = -ENOMEM;

	for (size_t n = 0; r < 0 && scarce_once_after(n); n++) {
		r = interests_add(&interests, &one, "a");
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0);
		interests_remove(&interests, &one);
	}
	cr_expect_eq(r, 0);
}
