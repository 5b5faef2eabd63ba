/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/cleanup.h"
#include "util/list.h"

/*
 * The one loop of a process: descriptors, timers, signals and children.
 *
 *        one epoll set ──┬─ host sockets, inotify, …  (loop_source)
 *                        ├─ one timerfd ── timer heap (loop_timer)
 *                        ├─ one signalfd              (loop_add_signal)
 *                        └─ pidfds                    (loop_child)
 *
 * Callbacks run on the loop, one at a time, and may free any source, timer or child, their own too.
 */
struct loop;
struct loop_source;
struct loop_child;

/* Create a loop, which the caller frees with loop_free(). 0 or a negative errno. */
int loop_new(struct loop **ret_loop);

/* Free the loop. The caller has freed all sources and
 * timers before. Running children are not watched any more. Takes NULL. */
void loop_free(struct loop *loop);

/* Serve until loop_stop() or, unless @timeout_ms is negative, for so long. 0 when stopped, -ETIME
 * when the time ran out, another negative errno when the loop itself failed. */
int loop_run(struct loop *loop, int timeout_ms);

/* Make loop_run() return 0 after the callbacks due now. */
void loop_stop(struct loop *loop);

/* From now on until loop_free(), do not block on stderr: log lines not taken by stderr wait in
 * memory. When too many wait, the log drops lines and reports their number (util/log,
 * log_defer). */
void loop_serve_log(struct loop *loop);

/* A callback of a descriptor. @events: the events reported by epoll (EPOLLIN, EPOLLHUP, …). */
typedef void (*loop_fd_function)(void *data, uint32_t events);

/* Watch @fd for @events (level-triggered) and create a source, which the caller frees with
 * loop_source_free(). The caller owns @fd and closes it after that. 0 or a negative errno. */
int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_function function, void *data,
	struct loop_source **ret_source);

/* Watch for @events instead of the earlier ones. 0 or a negative errno. */
int loop_source_set_events(struct loop_source *source, uint32_t events);

/* Stop watching; no callback follows. Takes NULL. */
void loop_source_free(struct loop_source *source);

typedef void (*loop_timer_function)(void *data);

/* A one-shot timer, embedded in its owner. Its fields belong to loop/loop.c. */
struct loop_timer {
	struct loop *loop;
	loop_timer_function function;
	void *data;
	uint64_t due_ns;   /* CLOCK_MONOTONIC */
	uint32_t position; /* in the heap, from 1; 0: not armed */
};

/* Prepare a timer to call @function with @data, and reserve its room in the heap, so arming cannot
 * fail. 0 or -ENOMEM. */
int loop_timer_init(
	struct loop_timer *timer, struct loop *loop, loop_timer_function function, void *data);

/* Disarm the timer and release its room. Takes a zeroed timer. */
void loop_timer_deinit(struct loop_timer *timer);

/* Call the timer's function once, not earlier than @delay_ms from now (0: after the ready
 * descriptors). This replaces an earlier call of loop_timer_arm(). */
void loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms);

/* As loop_timer_arm(), with @delay_ms from @from_ns, which the caller has just read from
 * clock_now_ns(). */
void loop_timer_arm_from(struct loop_timer *timer, uint64_t from_ns, uint64_t delay_ms);

/* Cancel the call. A disarmed timer stays so. */
void loop_timer_disarm(struct loop_timer *timer);

/* Return whether a call is pending. */
static inline bool loop_timer_is_armed(const struct loop_timer *timer)
{
	return timer->position != 0;
}

typedef void (*loop_task_function)(void *data);

/* Work done once before the loop waits again, embedded in its owner: many causes in one turn make a
 * single piece of work. Its fields belong to loop/loop.c. */
struct loop_task {
	struct list link;
	struct loop *loop;
	loop_task_function function;
	void *data;
};

/* Prepare a task to call @function with @data. */
void loop_task_init(
	struct loop_task *task, struct loop *loop, loop_task_function function, void *data);

/* Call the task's function once, after the callbacks due now. The function does not post its own
 * task. */
void loop_task_post(struct loop_task *task);

/* Cancel the call. An unposted or zeroed task stays so. */
void loop_task_cancel(struct loop_task *task);

typedef void (*loop_signal_function)(void *data, int signal);

/* Block @signal for the process and call @function for each arrival. Code that spawns a child has
 * to unblock the signal there. 0, -EEXIST for a signal taken before, -EINVAL for another number, or
 * another negative errno. */
int loop_add_signal(struct loop *loop, int signal, loop_signal_function function, void *data);

/* A callback of an ended child, with the @status of waitpid(2). The child is reaped and its
 * loop_child freed before the call. */
typedef void (*loop_child_function)(void *data, int status);

/* Watch the child @pid (greater than 0) until it ends, then call @function. The loop frees the
 * child. 0 or a negative errno. */
int loop_add_child(struct loop *loop, pid_t pid, loop_child_function function, void *data,
	struct loop_child **ret_child);

/* Send @signal to the child, never to a later process with its pid. 0 or a negative errno. */
int loop_child_signal(struct loop_child *child, int signal);

/* Do not call the child's function when it ends; the loop still reaps and frees it. Takes NULL. */
void loop_child_forget(struct loop_child *child);

/* Kill the child, by SIGKILL, unless it has ended in @timeout_ms. */
void loop_child_kill_after(struct loop_child *child, uint64_t timeout_ms);

/* Become the parent of every descendant whose parent ends (PR_SET_CHILD_SUBREAPER). The first
 * thread of the process calls this. From now on until loop_free() each unwatched child is reaped at
 * its end, and killed if @is_leftover returns true. loop_free() waits until the last leftovers have
 * ended, up to 100 ms. 0 or a negative errno. */
int loop_adopt(struct loop *loop, bool (*is_leftover)(pid_t pid));

CLEANUP_DEFINE(loop, struct loop *, loop_free)
