/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/parts.h"
#include "util/clock.h"

/*
 * System calls that the sandbox of a host refuses. Each waits at the listener until it is answered
 * here, and the first one of a call of a tool is kept, for the text about its failure.
 */

void host_close_listener(struct host *host)
{
	loop_source_free(take_ptr(host->refusals));
	if (host->listener >= 0)
		close(host->listener);
	host->listener = -1;
}

const char *host_refused(const struct host *host)
{
	return host->refused[0] ? host->refused : NULL;
}

/* Hold a host that loops over refused calls: each wakes the daemon. One that is ending cannot be
 * held. */
static void bound_refusals(struct host *host)
{
	uint64_t now_ms = clock_now_ms();

	if (now_ms - host->refusals_ms >= HOST_REFUSAL_WINDOW_MS) {
		host->refusals_ms = now_ms;
		host->n_refusals = 0;
	}
	if (++host->n_refusals <= HOST_REFUSALS_MAX)
		return;
	if (host->source)
		host_hold(host, HOST_REFUSAL_WINDOW_MS);
	else
		host_close_listener(host);
}

/* Return whether the host may have sent an answer that was not taken yet: the call that is refused
 * is then one of a later call of a tool. A ring is read once the host was held for a moment. */
static bool has_unread(struct host *host)
{
	int size = 0;

	if (host->n_calls > 1 && host->wakes && ring_has_more(&host->ring)) {
		if (!host_is_held(host))
			host_hold(host, 0);
		return true;
	}
	return host->n_calls > 1 && host->source && ioctl(host->wire, FIONREAD, &size) == 0 &&
	       size > 0;
}

static void on_refusal(void *data, uint32_t events)
{
	char text[REFUSAL_TEXT_BYTES];
	struct host *host = data;

	/* No thread is left that a filter could stop. */
	if (!(events & EPOLLIN) && (events & (EPOLLHUP | EPOLLERR)))
		host_close_listener(host);
	if (!(events & EPOLLIN) || has_unread(host))
		return;
	if (refusal_answer(host->listener, text) == 0 && !host_refused(host))
		memcpy(host->refused, text, sizeof(text));
	bound_refusals(host);
}

int host_take_listener(struct host *host, int listener)
{
	host->listener = listener;
	return loop_add_fd(host->loop, listener, EPOLLIN, on_refusal, host, &host->refusals);
}
