/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "loop/loop.h"
#include "util/clock.h"

#define PATIENCE_MS 5000

TestSuite(loop_timer, .timeout = 20);

static struct loop *new_loop(void)
{
	struct loop *loop = NULL;

	cr_assert_eq(loop_new(&loop), 0);
	return loop;
}

static void stop(void *data)
{
	loop_stop(data);
}

/* Notes the order in which timers fire. */
struct noted {
	struct loop_timer timer;
	struct loop *loop;
	uint64_t armed_ns;
	uint64_t fired_ns;
	unsigned int turn; /* from 1 */
	unsigned int *turns;
	unsigned int last; /* stop at this turn */
};

static void note(void *data)
{
	struct noted *noted = data;

	noted->fired_ns = clock_now_ns();
	noted->turn = ++*noted->turns;
	if (noted->turn == noted->last)
		loop_stop(noted->loop);
}

Test(loop_timer, is_never_early_and_in_order_of_due_times)
{
	enum { COUNT = 300 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	static struct noted noted[COUNT];
	unsigned int turns = 0;

	srand(1);
	for (int i = 0; i < COUNT; i++) {
		noted[i] = (struct noted){.loop = loop, .turns = &turns, .last = COUNT};
		cr_assert_eq(loop_timer_init(&noted[i].timer, loop, note, &noted[i]), 0);
		loop_timer_arm(&noted[i].timer, (uint64_t)(rand() % 40));
		noted[i].armed_ns = noted[i].timer.due_ns;
	}
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	for (int i = 0; i < COUNT; i++) {
		cr_assert_geq(noted[i].fired_ns, noted[i].armed_ns);
		for (int k = 0; k < i; k++)
			if (noted[i].armed_ns != noted[k].armed_ns)
				cr_assert_eq(noted[i].turn < noted[k].turn,
					noted[i].armed_ns < noted[k].armed_ns);
		loop_timer_deinit(&noted[i].timer);
	}
}

Test(loop_timer, does_not_fire_when_disarmed)
{
	enum { COUNT = 64 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct noted noted[COUNT];
	unsigned int turns = 0;

	for (int i = 0; i < COUNT; i++) {
		noted[i] = (struct noted){.loop = loop, .turns = &turns, .last = COUNT / 2};
		cr_assert_eq(loop_timer_init(&noted[i].timer, loop, note, &noted[i]), 0);
		loop_timer_arm(&noted[i].timer, (uint64_t)((i * 37) % 20));
	}
	for (int i = 0; i < COUNT; i += 2) {
		loop_timer_disarm(&noted[i].timer);
		loop_timer_disarm(&noted[i].timer);
		cr_assert_not(loop_timer_is_armed(&noted[i].timer));
	}
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(loop_run(loop, 30), -ETIME);
	cr_assert_eq(turns, COUNT / 2);
	for (int i = 0; i < COUNT; i++) {
		cr_assert_eq(noted[i].turn > 0, i % 2 == 1);
		loop_timer_deinit(&noted[i].timer);
	}
}

Test(loop_timer, fires_at_its_newest_arrangement_only)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	unsigned int turns = 0;
	struct noted noted = {.loop = loop, .turns = &turns, .last = 1};

	cr_assert_eq(loop_timer_init(&noted.timer, loop, note, &noted), 0);
	loop_timer_arm(&noted.timer, 3600000);
	loop_timer_arm(&noted.timer, 1);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(loop_run(loop, 10), -ETIME);
	cr_assert_eq(turns, 1);
	loop_timer_deinit(&noted.timer);
}

struct again {
	struct loop_timer timer;
	unsigned int left;
	struct loop *loop;
};

static void arm_again(void *data)
{
	struct again *again = data;

	if (--again->left > 0)
		loop_timer_arm(&again->timer, 0);
	else
		loop_stop(again->loop);
}

Test(loop_timer, may_arm_itself_from_its_own_call)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct again again = {.left = 100, .loop = loop};

	cr_assert_eq(loop_timer_init(&again.timer, loop, arm_again, &again), 0);
	loop_timer_arm(&again.timer, 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(again.left, 0);
	loop_timer_deinit(&again.timer);
}

struct pair {
	struct loop_timer *timer;
	struct pair *other;
	unsigned int *calls;
};

/* Whoever comes first takes both away, and ends the run. */
static void free_pair(void *data)
{
	struct pair *pair = data;
	struct loop *loop = pair->timer->loop;

	++*pair->calls;
	loop_timer_deinit(pair->other->timer);
	loop_timer_deinit(pair->timer);
	loop_stop(loop);
}

Test(loop_timer, may_be_freed_by_a_call_of_another_that_is_due_too)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_timer timers[2];
	unsigned int calls = 0;
	struct pair a = {.timer = &timers[0], .calls = &calls};
	struct pair b = {.timer = &timers[1], .calls = &calls, .other = &a};

	a.other = &b;
	cr_assert_eq(loop_timer_init(a.timer, loop, free_pair, &a), 0);
	cr_assert_eq(loop_timer_init(b.timer, loop, free_pair, &b), 0);
	loop_timer_arm(a.timer, 0);
	loop_timer_arm(b.timer, 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(calls, 1);
}

Test(loop_timer, takes_a_delay_of_any_size)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_timer never = {0};
	struct loop_timer soon = {0};

	cr_assert_eq(loop_timer_init(&never, loop, stop, loop), 0);
	cr_assert_eq(loop_timer_init(&soon, loop, stop, loop), 0);
	loop_timer_arm(&never, UINT64_MAX);
	cr_assert_eq(loop_run(loop, 5), -ETIME);
	loop_timer_arm(&soon, 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert(loop_timer_is_armed(&never));
	loop_timer_deinit(&never);
	loop_timer_deinit(&soon);
}

Test(loop_timer, may_be_deinitialised_when_it_never_was_initialised)
{
	struct loop_timer timer = {0};

	loop_timer_deinit(&timer);
}

Test(loop_timer, aborts_when_it_outlives_its_loop, .signal = SIGABRT)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_timer timer;

	cr_assert_eq(loop_timer_init(&timer, loop, stop, loop), 0);
}
