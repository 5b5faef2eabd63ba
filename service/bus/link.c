/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/clock.h"

void link_watch(struct link *link, uint32_t events)
{
	if (link->events == events)
		return;
	link->events = events;
	loop_source_set_events(link->source, events);
}

void link_watch_again(struct link *link)
{
	loop_source_set_events(link->source, link->events);
}

/* Begin to connect to the numeric @address; no name service is asked. Return the socket or a
 * negative errno. */
static int dial(const char *address, uint16_t port)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char service[8];
	int fd;
	int r = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(address, service, &hints, &found) != 0)
		return -EADDRNOTAVAIL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, found->ai_addr, found->ai_addrlen) < 0 && errno != EINPROGRESS))
		r = -errno;
	freeaddrinfo(found);
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

static int add_source(struct link *link, struct loop *loop, loop_fd_function function, void *data)
{
	int r = loop_add_fd(loop, link->fd, link->events, function, data, &link->source);

	if (r < 0)
		link_close(link);
	return r;
}

int link_open(struct link *link, struct loop *loop, const char *address, uint16_t port,
	loop_fd_function function, void *data)
{
	int fd = dial(address, port);

	check(link->state == LINK_CLOSED);
	if (fd < 0)
		return fd;
	/* A handshake of TLS writes before the first read. */
	*link = (struct link){.state = LINK_CONNECTING,
		.is_client = true,
		.is_ack_due = true,
		.fd = fd,
		.events = EPOLLOUT};
	return add_source(link, loop, function, data);
}

int link_adopt(struct link *link, struct loop *loop, int fd, loop_fd_function function, void *data)
{
	check(link->state == LINK_CLOSED);
	*link = (struct link){.state = LINK_READY, .fd = fd, .events = EPOLLIN};
	return add_source(link, loop, function, data);
}

void link_close(struct link *link)
{
	if (link->state == LINK_CLOSED)
		return;
	if (link->tls)
		tls_finish(link->tls);
	tls_session_free(link->tls);
	loop_source_free(link->source);
	buffer_deinit(&link->rest);
	close(link->fd);
	*link = (struct link){0};
}

/* ── from an address to a connection ─────────────────────────────────────────────────────────── */

static int finish_connecting(struct link *link)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

static int go_on_with_handshake(struct link *link, char ret_reason[TLS_REASON_BYTES])
{
	int error;

	if (tls_handshake(link->tls) == 0) {
		link->state = LINK_READY;
		return 0;
	}
	error = errno;
	if (error == EAGAIN) {
		link_watch(link, tls_wants_write(link->tls) ? EPOLLOUT : EPOLLIN);
		return 0;
	}
	if (error == EPROTO)
		tls_describe_failure(link->tls, ret_reason);
	else
		snprintf(ret_reason, TLS_REASON_BYTES, "%s", strerror(error));
	return -error;
}

int link_advance(struct link *link, struct tls_client *client, const char *host,
	char ret_reason[TLS_REASON_BYTES])
{
	int r = 0;

	if (link->state == LINK_CONNECTING) {
		r = finish_connecting(link);
		if (r == 0 && client) {
			link->tls = tls_connect(client, link->fd, host);
			r = link->tls ? 0 : -ENOMEM;
		}
		if (r < 0) {
			snprintf(ret_reason, TLS_REASON_BYTES, "%s", strerror(-r));
			return r;
		}
		link->state = client ? LINK_SECURING : LINK_READY;
	}
	return link->state == LINK_SECURING ? go_on_with_handshake(link, ret_reason) : 0;
}

/* ── bytes ───────────────────────────────────────────────────────────────────────────────────── */

static bool has_unsent(const struct link *link)
{
	int bytes = 0;

	return ioctl(link->fd, SIOCOUTQNSD, &bytes) == 0 && bytes > 0;
}

/*
 * Acknowledge the bytes just read. A server with Nagle's algorithm holds its next frame until then.
 *
 *   a read acknowledges at once ──the kernel sends our bytes──▶ the acknowledgement is 40 ms late
 *            ▲                                                                │
 *            └───────────────────── TCP_QUICKACK after a read ────────────────┘
 *
 * The kernel may send bytes long after they were written, so the option stays due while it has
 * unsent bytes.
 */
static void acknowledge(struct link *link)
{
	static const int on = 1;

	link->is_ack_due = has_unsent(link);
	setsockopt(link->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

ssize_t link_read(struct link *link, void *ret_bytes, size_t size)
{
	ssize_t received = link->tls ? tls_read(link->tls, ret_bytes, size)
				     : recv(link->fd, ret_bytes, size, 0);
	int error = errno;

	if (received < 0)
		return error == EINTR ? -EAGAIN : -error;
	if (link->is_client && link->is_ack_due)
		acknowledge(link);
	return received;
}

void link_await_end(struct link *link, uint64_t wait_ms)
{
	uint64_t end_ms = clock_now_ms() + wait_ms;
	uint64_t now_ms = end_ms - wait_ms;
	struct pollfd entry = {.fd = link->fd, .events = POLLIN};
	char bytes[TLS_RECORD_BYTES];
	ssize_t size = 1;

	while (now_ms < end_ms && (size > 0 || size == -EAGAIN)) {
		size = link_read(link, bytes, sizeof(bytes));
		if (size == -EAGAIN)
			poll(&entry, 1, (int)(end_ms - now_ms));
		now_ms = clock_now_ms();
	}
}

bool link_is_clear(const struct link *link)
{
	return link->rest.size == 0;
}

/* Send of @size bytes what the socket takes. Return their number or a negative errno. */
static ssize_t send_bytes(struct link *link, const char *bytes, size_t size)
{
	size_t sent = 0;

	link->is_ack_due = true;
	while (sent < size) {
		ssize_t part = link->tls ? tls_write(link->tls, bytes + sent, size - sent)
					 : send(link->fd, bytes + sent, size - sent, MSG_NOSIGNAL);

		if (part >= 0)
			sent += (size_t)part;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)sent;
}

ssize_t link_send(struct link *link, struct iovec *parts, size_t n)
{
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};
	ssize_t sent = sendmsg(link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

	link->is_ack_due = true;
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return sent;
}

int link_keep(struct link *link, const void *bytes, size_t size)
{
	buffer_append(&link->rest, bytes, size);
	return buffer_status(&link->rest);
}

int link_write(struct link *link, const void *bytes, size_t size)
{
	ssize_t sent = send_bytes(link, bytes, size);

	if (sent < 0)
		return (int)sent;
	return (size_t)sent < size
		       ? link_keep(link, (const char *)bytes + sent, size - (size_t)sent)
		       : 0;
}

int link_flush(struct link *link)
{
	ssize_t sent;

	if (link_is_clear(link))
		return 0;
	sent = send_bytes(link, link->rest.data + link->sent, link->rest.size - link->sent);
	if (sent < 0)
		return (int)sent;
	link->sent += (size_t)sent;
	if (link->sent == link->rest.size) {
		buffer_deinit(&link->rest);
		link->sent = 0;
	}
	return 0;
}

bool link_awaits_room(const struct link *link)
{
	return (link->events & EPOLLOUT) != 0;
}
