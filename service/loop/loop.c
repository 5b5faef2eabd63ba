/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop/inside.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/log.h"

/*
 * The loop itself: sources and timers in one epoll set, with one wait in a turn.
 *
 *   epoll_wait ─▶ sources ─┬─ timerfd ─▶ timers ─┬─▶ tasks ─▶ the next turn
 *                          └─ …                  ┘
 *
 * Signals and children (loop/signal.c, loop/child.c) are built upon it.
 */

/* ── sources ─────────────────────────────────────────────────────────────────────────────────── */

/*
 * A source is a descriptor in the epoll set. Events are fetched in batches:
 *
 *   epoll_wait() ──▶ one batch of events
 *                          │ each: does its source still exist?
 *                          ▼ yes
 *                        function(data, events)
 *
 * A callback may free a source with an event later in the same batch. The set forgets the
 * descriptor at once, but the batch was already fetched: loop_source_free() therefore looks through
 * the batch and clears the event.
 *
 * An event beyond the batch is not lost: it stays in the set, so the next wait returns at once.
 */

static int control(struct loop_source *source, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	if (epoll_ctl(source->loop->epoll_fd, operation, source->fd, &event) < 0)
		return -errno;
	return 0;
}

int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_function function, void *data,
	struct loop_source **ret_source)
{
	cleanup_free struct loop_source *source = malloc(sizeof(*source));
	int r;

	check(function);
	if (!source)
		return -ENOMEM;
	*source = (struct loop_source){.loop = loop, .fd = fd, .function = function, .data = data};
	r = control(source, EPOLL_CTL_ADD, events);
	if (r < 0)
		return r;
	loop->n_sources++;
	*ret_source = take_ptr(source);
	return 0;
}

int loop_source_set_events(struct loop_source *source, uint32_t events)
{
	return control(source, EPOLL_CTL_MOD, events);
}

void loop_source_free(struct loop_source *source)
{
	if (!source)
		return;
	for (int i = 0; i < source->loop->batch_count; i++)
		if (source->loop->batch[i].data.ptr == source)
			source->loop->batch[i].data.ptr = NULL;
	check(source->loop->n_sources > 0);
	source->loop->n_sources--;
	control(source, EPOLL_CTL_DEL, 0);
	free(source);
}

/* Wait for one batch of events from the epoll set, and call the functions of their sources. 0 or a
 * negative errno. */
static int serve_batch(struct loop *loop)
{
	int count = epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH_EVENTS, -1);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	loop->batch_count = count;
	for (int i = 0; i < loop->batch_count; i++) {
		struct loop_source *source = loop->batch[i].data.ptr;

		loop->batch[i].data.ptr = NULL;
		if (source)
			source->function(source->data, loop->batch[i].events);
	}
	loop->batch_count = 0;
	return 0;
}

/* ── timers ──────────────────────────────────────────────────────────────────────────────────── */

/*
 * Timers: a binary heap, and one timerfd set for its top.
 *
 *             1  ← due first; the timerfd is set for it, or for something earlier
 *           ╱   ╲
 *          2     3          parent of n: n / 2       children: 2n, 2n + 1
 *         ╱ ╲   ╱ ╲
 *        4   5 6   7        each timer knows its position, so disarming needs no search
 *
 * Most timers are deadlines disarmed long before they are due. So disarming leaves the timerfd
 * alone: it may fire once with nothing due, and is then set for the new top. A daemon that answers
 * thousands of calls makes no system call for their deadlines.
 */

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

/* Call the due timers. A timer that arms itself without delay during this walk is called after the
 * descriptors, in the next walk. */
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

static int open_timers(struct loop *loop)
{
	struct timer_heap *heap = &loop->timers;

	heap->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (heap->fd < 0)
		return -errno;
	return loop_add_fd(loop, heap->fd, EPOLLIN, on_alarm, heap, &heap->source);
}

static void close_timers(struct loop *loop)
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

void loop_timer_arm_from(struct loop_timer *timer, uint64_t from_ns, uint64_t delay_ms)
{
	struct timer_heap *heap = &timer->loop->timers;

	loop_timer_disarm(timer);
	delay_ms = delay_ms < DELAY_MS_MAX ? delay_ms : DELAY_MS_MAX;
	timer->due_ns = from_ns + delay_ms * NS_PER_MS;
	insert_timer(heap, timer);
	set_alarm(heap);
}

void loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
	loop_timer_arm_from(timer, clock_now_ns(), delay_ms);
}

void loop_timer_disarm(struct loop_timer *timer)
{
	if (timer->position != 0)
		extract_timer(&timer->loop->timers, timer);
}

/* ── tasks ───────────────────────────────────────────────────────────────────────────────────── */

void loop_task_init(
	struct loop_task *task, struct loop *loop, loop_task_function function, void *data)
{
	check(function);
	*task = (struct loop_task){.loop = loop, .function = function, .data = data};
	list_init(&task->link);
}

void loop_task_post(struct loop_task *task)
{
	if (list_is_empty(&task->link))
		list_append(&task->loop->tasks, &task->link);
}

void loop_task_cancel(struct loop_task *task)
{
	if (task->loop)
		list_remove(&task->link);
}

static void run_tasks(struct loop *loop)
{
	struct list *link;

	while ((link = list_take_first(&loop->tasks))) {
		struct loop_task *task = container_of(link, struct loop_task, link);

		task->function(task->data);
	}
}

/* ── the loop ────────────────────────────────────────────────────────────────────────────────── */

int loop_new(struct loop **ret_loop)
{
	cleanup(loop_cleanup) struct loop *loop = calloc(1, sizeof(*loop));
	int r;

	if (!loop)
		return -ENOMEM;
	loop->timers.fd = -1;
	loop->signals.fd = -1;
	sigemptyset(&loop->signals.taken);
	list_init(&loop->tasks);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	r = open_timers(loop);
	if (r < 0)
		return r;
	*ret_loop = take_ptr(loop);
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	if (loop->serves_log) {
		loop_source_free(loop->log_source);
		log_finish();
	}
	if (loop->close_children)
		loop->close_children(loop);
	if (loop->close_signals)
		loop->close_signals(loop);
	close_timers(loop);
	check(loop->n_sources == 0);
	check(list_is_empty(&loop->tasks));
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	free(loop);
}

static void on_log_writable(void *data, uint32_t events)
{
	struct loop *loop = data;

	(void)events;
	if (log_flush())
		loop_source_free(take_ptr(loop->log_source));
}

/* Watch stderr until it takes more. If that fails, the next line of the log tries again. */
static void on_log_waits(void *data)
{
	struct loop *loop = data;

	if (!loop->log_source)
		loop_add_fd(loop, log_fd(), EPOLLOUT, on_log_writable, loop, &loop->log_source);
}

void loop_serve_log(struct loop *loop)
{
	loop->serves_log = true;
	log_defer(on_log_waits, loop);
}

static void on_run_timeout(void *data)
{
	struct loop *loop = data;

	loop->is_timed_out = true;
}

static int serve(struct loop *loop)
{
	/* A task may stop the loop, too, and what was posted in its last turn is done. */
	run_tasks(loop);
	while (!loop->is_stopped && !loop->is_timed_out) {
		int r = serve_batch(loop);

		if (r < 0)
			return r;
		run_tasks(loop);
	}
	return loop->is_stopped ? 0 : -ETIME;
}

int loop_run(struct loop *loop, int timeout_ms)
{
	struct loop_timer timer = {0};
	int r;

	loop->is_timed_out = false;
	r = loop_timer_init(&timer, loop, on_run_timeout, loop);
	if (r < 0)
		return r;
	if (timeout_ms >= 0)
		loop_timer_arm(&timer, (uint64_t)timeout_ms);
	r = serve(loop);
	loop_timer_deinit(&timer);
	loop->is_stopped = false;
	return r;
}

void loop_stop(struct loop *loop)
{
	loop->is_stopped = true;
}
