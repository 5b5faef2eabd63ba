/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/aside.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/thread.h"

/* The niceness of the thread: where processors are short, the loop comes first. */
#define ASIDE_NICE 5

struct aside {
	aside_function run;
	aside_function done;
	void *data;
	int done_fd; /* eventfd */
	struct loop_source *source;
	pthread_t thread;
	bool is_running; /* the thread is not joined */
};

static void *run_thread(void *data)
{
	const struct aside *aside = data;
	const uint64_t one = 1;

	/* In Linux, the niceness is the thread's. Without it the work is done all the same. */
	setpriority(PRIO_PROCESS, 0, ASIDE_NICE);
	aside->run(aside->data);
	/* The first write to an eventfd always succeeds. */
	check(write(aside->done_fd, &one, sizeof(one)) == sizeof(one));
	return NULL;
}

static void finish_aside(void *data, uint32_t events)
{
	struct aside *aside = data;
	aside_function done = aside->done;
	void *done_data = aside->data;

	(void)events;
	check(aside->is_running);
	aside_free(aside);
	done(done_data);
}

CLEANUP_DEFINE(aside, struct aside *, aside_free)

int aside_start(struct loop *loop, aside_function run, aside_function done, void *data,
	struct aside **ret_aside)
{
	cleanup(aside_cleanup) struct aside *aside = calloc(1, sizeof(*aside));
	int r;

	check(run && done);
	if (!aside)
		return -ENOMEM;
	*aside = (struct aside){.run = run, .done = done, .data = data};
	aside->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (aside->done_fd < 0)
		return -errno;
	r = loop_add_fd(loop, aside->done_fd, EPOLLIN, finish_aside, aside, &aside->source);
	if (r == 0)
		r = thread_start(&aside->thread, run_thread, aside);
	aside->is_running = r == 0;
	if (r < 0)
		return r;
	*ret_aside = take_ptr(aside);
	return 0;
}

void aside_free(struct aside *aside)
{
	if (!aside)
		return;
	if (aside->is_running)
		pthread_join(aside->thread, NULL);
	loop_source_free(aside->source);
	if (aside->done_fd >= 0)
		close(aside->done_fd);
	free(aside);
}
