/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connections that are accepted per turn of the loop. */
#define ACCEPT_BATCH 16

/* The pause when descriptors or memory have run out. */
#define EXHAUSTED_PAUSE_MS 500

struct listener {
	int fd;
	struct loop_source *source;
	struct loop_timer timer;
	listener_function function;
	void *data;
};

static void on_pause_over(void *data)
{
	struct listener *listener = data;

	loop_source_set_events(listener->source, EPOLLIN);
}

/* Return whether accepting can continue after @error: a connection that is already gone is no
 * failure. */
static bool is_passing(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void on_connection(void *data, uint32_t events)
{
	struct listener *listener = data;

	(void)events;
	for (unsigned int i = 0; i < ACCEPT_BATCH; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			listener->function(listener->data, fd);
			continue;
		}
		if (is_passing(errno))
			continue;
		if (errno != EAGAIN) {
			loop_source_set_events(listener->source, 0);
			loop_timer_arm(&listener->timer, EXHAUSTED_PAUSE_MS);
		}
		return;
	}
}

/* Find the first address of the host. "localhost" is the IPv4 one, where clients look for a bus. */
static int resolve(const struct bus_address *address, struct addrinfo **ret_info)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	const char *host =
		strcasecmp(address->host, "localhost") == 0 ? "127.0.0.1" : address->host;
	char port[8];

	snprintf(port, sizeof(port), "%u", address->port);
	return getaddrinfo(host, port, &hints, ret_info) == 0 ? 0 : -EADDRNOTAVAIL;
}

static int listen_at(const struct addrinfo *info, int *ret_fd)
{
	static const int on = 1;
	cleanup_close int fd = socket(
		info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, info->ai_protocol);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

static int read_port(int fd, struct bus_address *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = {.v6 = {0}};
	socklen_t size = sizeof(name);

	if (getsockname(fd, &name.any, &size) < 0)
		return -errno;
	address->port =
		ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
	return 0;
}

static int open_socket(struct bus_address *address, int *ret_fd)
{
	struct addrinfo *info;
	int r = resolve(address, &info);

	if (r)
		return r;
	r = listen_at(info, ret_fd);
	freeaddrinfo(info);
	return r ? r : read_port(*ret_fd, address);
}

static int begin_listening(
	struct listener *listener, struct loop *loop, struct bus_address *address)
{
	int r = open_socket(address, &listener->fd);

	if (!r)
		r = loop_timer_init(&listener->timer, loop, on_pause_over, listener);
	if (!r)
		r = loop_add_fd(
			loop, listener->fd, EPOLLIN, on_connection, listener, &listener->source);
	return r;
}

int listener_new(struct loop *loop, struct bus_address *address, listener_function function,
	void *data, struct listener **ret_listener)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int r;

	if (!listener)
		return -ENOMEM;
	listener->fd = -1;
	listener->function = function;
	listener->data = data;
	r = begin_listening(listener, loop, address);
	if (r) {
		listener_free(listener);
		return r;
	}
	*ret_listener = listener;
	return 0;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	loop_timer_deinit(&listener->timer);
	loop_source_free(listener->source);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
}
