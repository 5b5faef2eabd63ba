/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "loop/loop.h"

/* The struct shared by the files of this folder. Outside of it, only tests with a clock of their
 * own include this header. */

/* Events taken from the kernel at once. */
#define LOOP_BATCH_EVENTS 64

struct loop_source {
	struct loop *loop;
	int fd;
	loop_fd_function function;
	void *data;
};

/* A binary heap by due time, in a 1-based array with room for every initialised timer. */
struct timer_heap {
	struct loop_timer **slots;
	uint32_t count;    /* armed timers: slots[1] to slots[count] */
	uint32_t reserved; /* initialised timers */
	uint32_t capacity; /* slots allocated, the unused slots[0] included */
	int fd;            /* timerfd */
	uint64_t alarm_ns; /* when it fires; 0: never */
	struct loop_source *source;
};

struct signal_table {
	struct {
		loop_signal_function function;
		void *data;
	} entries[NSIG];
	sigset_t taken;
	int fd; /* signalfd; -1 until the first signal is taken */
	struct loop_source *source;
};

struct loop {
	int epoll_fd;
	bool is_stopped;
	bool is_timed_out;
	struct epoll_event batch[LOOP_BATCH_EVENTS];
	uint32_t n_sources;
	int batch_count; /* events of the batch under way; freeing a source clears its own */
	struct timer_heap timers;
	struct signal_table signals;
	struct list tasks;              /* to be done before the loop waits */
	struct loop_child *children;    /* the unreaped children */
	bool (*is_leftover)(pid_t pid); /* argument of loop_adopt(), or NULL */
	/* Free the signals and children with the loop; NULL until there was one. */
	void (*close_signals)(struct loop *loop);
	void (*close_children)(struct loop *loop);
	bool serves_log;                /* loop_serve_log() was called */
	struct loop_source *log_source; /* stderr, while lines of the log wait; else NULL */
};
