/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/cleanup.h"

/*
 * The one loop of a process: descriptors, timers, signals and children beside libwebsockets.
 *
 *        lws_service (poll)
 *          ├─ websocket and HTTP connections            (service/bus, service/http)
 *          └─ one epoll set, adopted as a raw file ──┬─ host sockets, inotify, …  (loop_source)
 *                                                    ├─ one timerfd ── timer heap (loop_timer)
 *                                                    ├─ one signalfd              (loop_add_signal)
 *                                                    └─ pidfds                    (loop_child)
 *
 * libwebsockets sees a single read-only descriptor of ours; everything else has plain epoll
 * semantics. That avoids its busy-waiting timers and its lost write requests (both fixed only
 * behind 4.1.6), and is the fastest layout measured.
 *
 * Callbacks run on the loop, one at a time, and may free any source, timer or child, their own too.
 */
struct loop;
struct loop_source;
struct loop_child;
struct lws_context;

/* Connections of this process may be TLS: to be called before loop_new(). Without it OpenSSL is not
 * initialised, which takes megabytes and milliseconds. */
void loop_want_tls(void);

/* A new loop; 0 or a negative errno. @fd_max bounds the descriptors libwebsockets serves. */
int loop_new(unsigned int fd_max, struct loop **ret_loop);

/* Takes NULL. Sources, timers and children must be gone; connections of the context are closed. */
void loop_free(struct loop *loop);

/* Serve until loop_stop() or, with a @timeout_ms that is not negative, until so long has passed.
 * 0 when stopped, -ETIME when time ran out, another negative errno when the loop itself failed. */
int loop_run(struct loop *loop, int timeout_ms);

/* Let loop_run() return 0 after the callbacks that are due now. */
void loop_stop(struct loop *loop);

/* Let no line of the log hold the loop up: what stderr does not take waits in memory, and is lost
 * with a word when there is too much of it (util/log, log_defer). Until loop_free(). */
void loop_serve_log(struct loop *loop);

/* The libwebsockets context, for the layers that speak through it. */
struct lws_context *loop_lws(struct loop *loop);

/* The http_proxy_address of every vhost: port 0 means none. Left out, it would be that of
 * $http_proxy, which a bus on this device is not behind. */
#define LOOP_NO_PROXY ":0"

/* @events: what epoll reported (EPOLLIN, EPOLLOUT, EPOLLHUP, …). */
typedef void (*loop_fd_function)(void *data, uint32_t events);

/* Watch @fd for @events (level-triggered). The descriptor stays the caller's and must outlive the
 * source. 0 or a negative errno. */
int loop_add_fd(struct loop *loop, int fd, uint32_t events, loop_fd_function function, void *data,
	struct loop_source **ret_source);

/* Watch for other @events from now on. */
int loop_source_set_events(struct loop_source *source, uint32_t events);

/* Takes NULL. No callback comes afterwards. */
void loop_source_free(struct loop_source *source);

typedef void (*loop_timer_function)(void *data);

/* A one-shot timer, embedded in what it serves. */
struct loop_timer {
	struct loop *loop;
	loop_timer_function function;
	void *data;
	uint64_t due_ns;   /* CLOCK_MONOTONIC */
	uint32_t position; /* in the heap, from 1; 0: not armed */
};

/* Prepare a timer, and make room for it in the heap so that arming cannot fail. 0 or -ENOMEM. */
int loop_timer_init(
	struct loop_timer *timer, struct loop *loop, loop_timer_function function, void *data);

/* Disarm it and give its room back. A zeroed timer may be passed. */
void loop_timer_deinit(struct loop_timer *timer);

/* Call its function once, @delay_ms from now (0: as soon as the loop is idle), instead of any
 * earlier arrangement. Never early. */
void loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_disarm(struct loop_timer *timer);
static inline bool loop_timer_is_armed(const struct loop_timer *timer)
{
	return timer->position != 0;
}

typedef void (*loop_signal_function)(void *data, int signal);

/* Take @signal as an event of the loop (it is blocked for the process; children that are spawned
 * get it unblocked and default again by whoever spawns them). Once per signal. */
int loop_add_signal(struct loop *loop, int signal, loop_signal_function function, void *data);

/* @status as waitpid(2) gives it. The child is reaped, its loop_child freed, before the call. */
typedef void (*loop_child_function)(void *data, int status);

/* Watch the child @pid until it ends. 0 or a negative errno. */
int loop_add_child(struct loop *loop, pid_t pid, loop_child_function function, void *data,
	struct loop_child **ret_child);

/* Send @signal to the child through its pidfd: never to a process that got its pid later. */
int loop_child_signal(struct loop_child *child, int signal);

/* Stop watching; the child is reaped silently when it ends. Takes NULL. */
void loop_child_forget(struct loop_child *child);

CLEANUP_DEFINE(loop, struct loop *, loop_free)
