/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop/inside.h"
#include "loop/loop.h"
#include "util/assert.h"
#include "util/clock.h"

/*
 * Timers: a binary heap, and one timerfd that is set for its top.
 *
 *             1  ← due first; the timerfd is set for it, or for something earlier
 *           ╱   ╲
 *          2     3          parent of n: n / 2       children: 2n, 2n + 1
 *         ╱ ╲   ╱ ╲
 *        4   5 6   7        each timer knows its position, so disarming needs no search
 *
 * Most timers are deadlines that are disarmed long before they are due. So disarming leaves the
 * timerfd alone: it may fire once with nothing due, and is then set for the new top. A daemon that
 * answers thousands of calls makes no system call for their deadlines.
 *
 * libwebsockets has timers too; in 4.1.6 each of them spins for the last fraction of a millisecond.
 */

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* A delay beyond this (about 73 years) is as good as never, and cannot overflow. */
#define DELAY_MS_MAX (UINT64_C(1) << 41)

#define HEAP_FIRST_CAPACITY 16

/* Set the timerfd for the top of the heap, if it would not fire by then anyway. */
static void set_alarm(struct timer_heap *heap)
{
	struct itimerspec spec = {0};
	uint64_t due_ns;

	if (heap->count == 0)
		return;
	due_ns = heap->slots[1]->due_ns;
	if (heap->alarm_ns != 0 && heap->alarm_ns <= due_ns)
		return;
	spec.it_value.tv_sec = (time_t)(due_ns / NS_PER_S);
	spec.it_value.tv_nsec = (long)(due_ns % NS_PER_S);
	timerfd_settime(heap->fd, TFD_TIMER_ABSTIME, &spec, NULL);
	heap->alarm_ns = due_ns;
}

static void place_timer(struct timer_heap *heap, struct loop_timer *timer, uint32_t position)
{
	heap->slots[position] = timer;
	timer->position = position;
}

/* Find the place for @timer on the way from the free slot @position to the top. */
static void sift_up(struct timer_heap *heap, struct loop_timer *timer, uint32_t position)
{
	while (position > 1 && heap->slots[position / 2]->due_ns > timer->due_ns) {
		place_timer(heap, heap->slots[position / 2], position);
		position /= 2;
	}
	place_timer(heap, timer, position);
}

/* Find the place for @timer on the way from the free slot @position to the bottom. */
static void sift_down(struct timer_heap *heap, struct loop_timer *timer, uint32_t position)
{
	for (;;) {
		uint32_t child = position * 2;

		if (child > heap->count)
			break;
		if (child < heap->count &&
			heap->slots[child + 1]->due_ns < heap->slots[child]->due_ns)
			child++;
		if (heap->slots[child]->due_ns >= timer->due_ns)
			break;
		place_timer(heap, heap->slots[child], position);
		position = child;
	}
	place_timer(heap, timer, position);
}

static void insert_timer(struct timer_heap *heap, struct loop_timer *timer)
{
	heap->count++;
	check(heap->count <= heap->reserved);
	sift_up(heap, timer, heap->count);
}

static void extract_timer(struct timer_heap *heap, struct loop_timer *timer)
{
	uint32_t position = timer->position;
	struct loop_timer *last = heap->slots[heap->count];

	check(heap->slots[position] == timer);
	heap->count--;
	timer->position = 0;
	if (last == timer)
		return;
	if (position > 1 && heap->slots[position / 2]->due_ns > last->due_ns)
		sift_up(heap, last, position);
	else
		sift_down(heap, last, position);
}

/* Call the timers that are due. A timer that arms itself with no delay during this walk is called
 * after the descriptors, in the next one. */
static void on_alarm(void *data, uint32_t events)
{
	struct timer_heap *heap = data;
	uint64_t now_ns = clock_now_ns();
	uint64_t expirations;

	(void)events;
	if (read(heap->fd, &expirations, sizeof(expirations)) < 0)
		return;
	heap->alarm_ns = 0;
	while (heap->count > 0 && heap->slots[1]->due_ns < now_ns) {
		struct loop_timer *timer = heap->slots[1];

		extract_timer(heap, timer);
		timer->function(timer->data);
	}
	set_alarm(heap);
}

int loop_timers_open(struct loop *loop)
{
	struct timer_heap *heap = &loop->timers;

	heap->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (heap->fd < 0)
		return -errno;
	return loop_add_fd(loop, heap->fd, EPOLLIN, on_alarm, heap, &heap->source);
}

void loop_timers_close(struct loop *loop)
{
	struct timer_heap *heap = &loop->timers;

	check(heap->reserved == 0);
	loop_source_free(heap->source);
	if (heap->fd >= 0)
		close(heap->fd);
	free(heap->slots);
	*heap = (struct timer_heap){.fd = -1};
}

int loop_timer_init(
	struct loop_timer *timer, struct loop *loop, loop_timer_function function, void *data)
{
	struct timer_heap *heap = &loop->timers;

	if (heap->reserved + 1 >= heap->capacity) {
		uint32_t capacity = heap->capacity ? heap->capacity * 2 : HEAP_FIRST_CAPACITY;
		struct loop_timer **slots =
			reallocarray(heap->slots, capacity, sizeof(struct loop_timer *));

		if (!slots)
			return -ENOMEM;
		heap->slots = slots;
		heap->capacity = capacity;
	}
	heap->reserved++;
	*timer = (struct loop_timer){.loop = loop, .function = function, .data = data};
	return 0;
}

void loop_timer_deinit(struct loop_timer *timer)
{
	if (!timer->loop)
		return;
	loop_timer_disarm(timer);
	timer->loop->timers.reserved--;
	*timer = (struct loop_timer){0};
}

void loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
	struct timer_heap *heap = &timer->loop->timers;

	loop_timer_disarm(timer);
	delay_ms = delay_ms < DELAY_MS_MAX ? delay_ms : DELAY_MS_MAX;
	timer->due_ns = clock_now_ns() + delay_ms * NS_PER_MS;
	insert_timer(heap, timer);
	set_alarm(heap);
}

void loop_timer_disarm(struct loop_timer *timer)
{
	if (timer->position != 0)
		extract_timer(&timer->loop->timers, timer);
}
