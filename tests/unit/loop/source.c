/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loop/loop.h"

#define PATIENCE_MS 5000

TestSuite(loop_source, .timeout = 20);

struct watched {
	struct loop *loop;
	int fd;
	struct loop_source *source;
	struct watched *other; /* freed by our callback */
	int calls;
};

static struct loop *new_loop(void)
{
	struct loop *loop = NULL;

	cr_assert_eq(loop_new(&loop), 0);
	return loop;
}

static void drain(struct watched *watched)
{
	uint64_t value;

	cr_assert_eq(read(watched->fd, &value, sizeof(value)), sizeof(value));
}

static void raise_event(struct watched *watched)
{
	uint64_t one = 1;

	cr_assert_eq(write(watched->fd, &one, sizeof(one)), sizeof(one));
}

static void watch(struct watched *watched, struct loop *loop, loop_fd_function function)
{
	watched->loop = loop;
	watched->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(watched->fd, 0);
	cr_assert_eq(
		loop_add_fd(loop, watched->fd, EPOLLIN, function, watched, &watched->source), 0);
}

static void unwatch(struct watched *watched)
{
	loop_source_free(watched->source);
	close(watched->fd);
}

static void count_and_stop(void *data, uint32_t events)
{
	struct watched *watched = data;

	cr_assert(events & EPOLLIN);
	drain(watched);
	watched->calls++;
	loop_stop(watched->loop);
}

/* Frees the source of the other, and its own. */
static void free_both(void *data, uint32_t events)
{
	struct watched *watched = data;

	(void)events;
	watched->calls++;
	loop_source_free(take_ptr(watched->other->source));
	loop_source_free(take_ptr(watched->source));
	loop_stop(watched->loop);
}

Test(loop_source, calls_when_the_descriptor_is_ready)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched watched = {0};

	watch(&watched, loop, count_and_stop);
	raise_event(&watched);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(watched.calls, 1);
	unwatch(&watched);
}

Test(loop_source, may_be_freed_with_an_event_pending_in_the_same_batch)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched a = {0};
	struct watched b = {0};

	watch(&a, loop, free_both);
	watch(&b, loop, free_both);
	a.other = &b;
	b.other = &a;
	raise_event(&a);
	raise_event(&b);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(a.calls + b.calls, 1, "the second was freed before its turn");
	unwatch(&a);
	unwatch(&b);
}

Test(loop_source, changes_what_it_waits_for)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched watched = {0};

	watch(&watched, loop, count_and_stop);
	raise_event(&watched);
	cr_assert_eq(loop_source_set_events(watched.source, 0), 0);
	cr_assert_eq(loop_run(loop, 0), -ETIME);
	cr_assert_eq(watched.calls, 0);
	cr_assert_eq(loop_source_set_events(watched.source, EPOLLIN), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(watched.calls, 1);
	unwatch(&watched);
}

Test(loop_source, serves_more_events_than_fit_in_a_batch)
{
	enum { COUNT = 200 };
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct watched watched[COUNT] = {0};
	int calls = 0;

	for (int i = 0; i < COUNT; i++) {
		watch(&watched[i], loop, count_and_stop);
		raise_event(&watched[i]);
	}
	for (int round = 0; calls < COUNT && round < COUNT; round++) {
		cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
		calls = 0;
		for (int i = 0; i < COUNT; i++)
			calls += watched[i].calls;
	}
	cr_assert_eq(calls, COUNT);
	for (int i = 0; i < COUNT; i++)
		unwatch(&watched[i]);
}

Test(loop_source, refuses_a_descriptor_that_cannot_be_watched)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_source *source = NULL;

	cr_assert_eq(loop_add_fd(loop, -1, EPOLLIN, count_and_stop, NULL, &source), -EBADF);
	cr_assert_null(source);
}

Test(loop, stops_before_it_began_when_told_so)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();

	loop_stop(loop);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_assert_eq(loop_run(loop, 0), -ETIME, "a stop holds for one run");
}

/* Only this thread counts: a sanitizer may have one that wakes by itself. */
Test(loop, does_nothing_while_nothing_happens)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct rusage before;
	struct rusage after;

	loop_run(loop, 0);
	getrusage(RUSAGE_THREAD, &before);
	cr_assert_eq(loop_run(loop, 300), -ETIME);
	getrusage(RUSAGE_THREAD, &after);
	cr_assert_leq(after.ru_nvcsw - before.ru_nvcsw, 3, "woken %ld times in 300 ms",
		after.ru_nvcsw - before.ru_nvcsw);
}

Test(loop, leaves_no_descriptor_behind)
{
	int before = dup(0);
	int after;

	close(before);
	for (int i = 0; i < 3; i++)
		loop_free(new_loop());
	after = dup(0);
	close(after);
	cr_assert_eq(after, before);
	loop_free(NULL);
}

/* ── tasks ───────────────────────────────────────────────────────────────────────────────────── */

struct tasked {
	struct loop *loop;
	struct loop_task task;
	struct loop_task *other; /* posted by our function, unless NULL */
	int calls;
};

static void on_task(void *data)
{
	struct tasked *tasked = data;

	tasked->calls++;
	if (tasked->other)
		loop_task_post(tasked->other);
}

static void post_twice(void *data, uint32_t events)
{
	struct tasked *tasked = data;

	(void)events;
	cr_expect_eq(tasked->calls, 0, "not from within the callback that posts it");
	loop_task_post(&tasked->task);
	loop_task_post(&tasked->task);
	loop_stop(tasked->loop);
}

Test(loop_source, does_a_task_once_and_before_it_waits)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct tasked first = {.loop = loop};
	struct tasked second = {.loop = loop};
	struct loop_source *source;
	int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

	loop_task_init(&first.task, loop, on_task, &first);
	loop_task_init(&second.task, loop, on_task, &second);
	first.other = &second.task;
	cr_assert_eq(loop_add_fd(loop, fd, EPOLLIN, post_twice, &first, &source), 0);
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(first.calls, 1, "a task of the turn that stops the loop is done");
	loop_source_free(source);
	cr_expect_eq(loop_run(loop, 1), -ETIME);
	cr_expect_eq(first.calls, 1);
	cr_expect_eq(second.calls, 1, "a task that a task posts does not wait for an event");
	close(fd);
}

static void stop_loop(void *data)
{
	loop_stop(data);
}

static void post_task(void *data)
{
	loop_task_post(data);
}

Test(loop_source, does_not_wait_once_a_task_has_stopped_it)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_task task;
	struct loop_timer timer;

	loop_task_init(&task, loop, stop_loop, loop);
	cr_assert_eq(loop_timer_init(&timer, loop, post_task, &task), 0);
	loop_task_post(&task);
	cr_expect_eq(loop_run(loop, -1), 0);
	loop_timer_arm(&timer, 0);
	cr_expect_eq(loop_run(loop, -1), 0);
	loop_timer_deinit(&timer);
}

Test(loop_source, does_no_task_that_was_cancelled)
{
	cleanup(loop_cleanup) struct loop *loop = new_loop();
	struct loop_task zeroed = {0};
	struct tasked tasked = {.loop = loop};

	loop_task_init(&tasked.task, loop, on_task, &tasked);
	loop_task_post(&tasked.task);
	loop_task_cancel(&tasked.task);
	loop_task_cancel(&tasked.task);
	loop_task_cancel(&zeroed);
	cr_expect_eq(loop_run(loop, 1), -ETIME);
	cr_expect_eq(tasked.calls, 0);
}
