/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/aside.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* The threads and states of one piece of work. */
struct place {
	struct loop *loop;
	pthread_t caller;
	atomic_bool has_run;
	bool was_in_loop;
	bool is_done;
};

static void run(void *data)
{
	struct place *place = data;

	place->was_in_loop = pthread_equal(pthread_self(), place->caller);
	usleep(1000);
	place->has_run = true;
}

static void done(void *data)
{
	struct place *place = data;

	cr_expect(place->has_run);
	cr_expect(pthread_equal(pthread_self(), place->caller));
	place->is_done = true;
	loop_stop(place->loop);
}

Test(aside, runs_in_a_thread_and_is_done_in_the_loop, .timeout = 10)
{
	struct place place = {.caller = pthread_self()};
	struct aside *aside;

	cr_assert_eq(loop_new(&place.loop), 0);
	cr_assert_eq(aside_start(place.loop, run, done, &place, &aside), 0);
	cr_expect_not(place.is_done);
	loop_run(place.loop, 5000);
	cr_expect(place.is_done);
	cr_expect_not(place.was_in_loop);
	loop_free(place.loop);
}

Test(aside, that_is_freed_has_ended_and_is_never_done, .timeout = 10)
{
	struct place place = {.caller = pthread_self()};
	struct aside *aside;

	cr_assert_eq(loop_new(&place.loop), 0);
	cr_assert_eq(aside_start(place.loop, run, done, &place, &aside), 0);
	aside_free(aside);
	cr_expect(place.has_run);
	loop_run(place.loop, 10);
	cr_expect_not(place.is_done);
	aside_free(NULL);
	loop_free(place.loop);
}
