/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/expiry.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/cleanup.h"

static void on_due(void *data, uint32_t events)
{
	struct expiry *expiry = data;

	(void)events;
	expiry_set(expiry, 0);
	expiry->function(expiry->data);
}

int expiry_init(struct expiry *expiry, struct loop *loop, loop_timer_function function, void *data)
{
	cleanup_close int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	*expiry = (struct expiry){.function = function, .data = data};
	r = loop_add_fd(loop, fd, EPOLLIN, on_due, expiry, &expiry->source);
	if (r == 0)
		expiry->fd = take_fd(fd);
	return r;
}

void expiry_set(struct expiry *expiry, time_t moment)
{
	struct itimerspec spec = {.it_value.tv_sec = moment};

	timerfd_settime(expiry->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void expiry_deinit(struct expiry *expiry)
{
	if (!expiry->source)
		return;
	loop_source_free(take_ptr(expiry->source));
	close(expiry->fd);
}
