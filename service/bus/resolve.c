/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bus/address.h"
#include "util/network.h"

/*
 * A lookup has two owners: the thread waiting for the name service, which cannot be interrupted,
 * and the loop, which may cancel the lookup. The second owner to leave frees it.
 *
 *   thread   getaddrinfo ───────▶ writes to the eventfd ──▶ leaves
 *   loop     watches the eventfd ──▶ reads the result, leaves     (or is cancelled, leaves)
 */
struct bus_lookup {
	char host[BUS_HOST_BYTES];
	int done_fd;   /* eventfd */
	int gai_error; /* the status of getaddrinfo */
	struct addrinfo *found;
	atomic_bool is_left; /* one of the two owners */

	/* Only the loop uses these. */
	struct loop_source *source;
	bus_lookup_function function;
	void *data;
};

static void add_address(struct bus_addresses *addresses, const char *text)
{
	if (addresses->count == BUS_ADDRESSES_MAX)
		return;
	snprintf(addresses->texts[addresses->count], sizeof(addresses->texts[0]), "%s", text);
	addresses->count++;
}

bool bus_resolve_at_once(const char *host, struct bus_addresses *ret_addresses)
{
	struct in6_addr address;

	ret_addresses->count = 0;
	if (strcasecmp(host, "localhost") == 0) {
		add_address(ret_addresses, "127.0.0.1");
		add_address(ret_addresses, "::1");
	} else if (network_read_address(host, &address)) {
		add_address(ret_addresses, host);
	}
	return ret_addresses->count > 0;
}

static void leave_lookup(struct bus_lookup *lookup)
{
	if (!atomic_exchange(&lookup->is_left, true))
		return;
	if (lookup->found)
		freeaddrinfo(lookup->found);
	if (lookup->done_fd >= 0)
		close(lookup->done_fd);
	free(lookup);
}

static void *look_up(void *data)
{
	struct bus_lookup *lookup = data;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	uint64_t one = 1;

	lookup->gai_error = getaddrinfo(lookup->host, NULL, &hints, &lookup->found);
	/* The first write to an eventfd always succeeds. */
	if (write(lookup->done_fd, &one, sizeof(one)) < 0)
		lookup->gai_error = EAI_SYSTEM;
	leave_lookup(lookup);
	return NULL;
}

static void collect(const struct addrinfo *found, struct bus_addresses *addresses)
{
	char text[sizeof(addresses->texts[0])];

	for (; found; found = found->ai_next)
		if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0,
			    NI_NUMERICHOST) == 0)
			add_address(addresses, text);
}

static void on_done(void *data, uint32_t events)
{
	struct bus_lookup *lookup = data;
	bus_lookup_function function = lookup->function;
	void *function_data = lookup->data;
	struct bus_addresses addresses = {0};
	const char *reason;
	uint64_t one;

	(void)events;
	/* This, not the event, orders what the thread has written before what is read here. */
	if (read(lookup->done_fd, &one, sizeof(one)) < 0)
		return;
	reason = lookup->gai_error ? gai_strerror(lookup->gai_error) : "the name has no address";
	if (lookup->gai_error == 0)
		collect(lookup->found, &addresses);
	bus_lookup_cancel(lookup);
	function(function_data, addresses.count > 0 ? &addresses : NULL, reason);
}

/* The thread blocks all signals: they are for the loop. */
static int start_thread(struct bus_lookup *lookup)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	int r = pthread_attr_init(&attributes);

	if (r)
		return -r;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attributes, look_up, lookup);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}

static int begin_lookup(struct loop *loop, struct bus_lookup *lookup)
{
	int r;

	lookup->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lookup->done_fd < 0)
		return -errno;
	r = loop_add_fd(loop, lookup->done_fd, EPOLLIN, on_done, lookup, &lookup->source);
	return r ? r : start_thread(lookup);
}

int bus_lookup_begin(struct loop *loop, const char *host, bus_lookup_function function, void *data,
	struct bus_lookup **ret_lookup)
{
	struct bus_lookup *lookup = calloc(1, sizeof(*lookup));
	int r;

	if (!lookup)
		return -ENOMEM;
	snprintf(lookup->host, sizeof(lookup->host), "%s", host);
	lookup->function = function;
	lookup->data = data;
	r = begin_lookup(loop, lookup);
	if (r) {
		lookup->is_left = true; /* there is no thread to leave first */
		bus_lookup_cancel(lookup);
		return r;
	}
	*ret_lookup = lookup;
	return 0;
}

void bus_lookup_cancel(struct bus_lookup *lookup)
{
	if (!lookup)
		return;
	loop_source_free(take_ptr(lookup->source));
	leave_lookup(lookup);
}
