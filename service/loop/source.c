/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "loop/inside.h"
#include "loop/loop.h"

/*
 * Sources: the descriptors in the epoll set, and the batch of events that is fetched from it.
 *
 *   epoll_wait(…, 0) ──▶ one batch of events
 *                          │ each: does its source still exist?
 *                          ▼ yes
 *                        function(data, events)
 *
 * A callback may free a source that has an event later in the same batch. The set forgets the
 * descriptor at once, but the batch was already fetched: loop_source_free() therefore looks through
 * the batch and clears the event.
 *
 * An event that does not fit in the batch is not lost: all sources are level-triggered, so the set
 * stays readable and the next poll() returns at once.
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
	source->loop->n_sources--;
	control(source, EPOLL_CTL_DEL, 0);
	free(source);
}

void loop_serve_batch(struct loop *loop)
{
	int count = epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH_EVENTS, 0);

	loop->batch_count = count > 0 ? count : 0;
	for (int i = 0; i < loop->batch_count; i++) {
		struct loop_source *source = loop->batch[i].data.ptr;

		loop->batch[i].data.ptr = NULL;
		if (source)
			source->function(source->data, loop->batch[i].events);
	}
	loop->batch_count = 0;
}
