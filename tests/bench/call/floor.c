/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/upgrade.h"
#include "bus/websocket.h"
#include "util/buffer.h"
#include "websocket.h"

/*
 * bus-floor: the least that a tool in a process can cost.
 *
 *   bus-floor           a bus with the tool; prints "ready PORT"
 *
 *     client ──▶ frame ─┬─▶ every client, the sender included
 *                       └─▶ socketpair ──▶ process: a + b ──▶ frame for every client
 *
 *   bus-floor --relay   the bus alone: the same without a process
 *
 *   bus-floor URL       the tool as a client of the bus at URL; prints "ready"
 *
 *     bus ──▶ frame ─┬─ a call ──▶ socketpair ──▶ process: a + b ──▶ frame for the bus
 *                    └─ no call: dropped
 *
 * Everything is sent once in a turn of the loop. There is no check of anything, no schema, no
 * limit, no deadline and no record; the load is trusted, and never has more in flight than the
 * buffers of the sockets take. A client's mask is zeros, and its bus must send at once (no Nagle).
 */

#define CLIENTS_MAX 128
#define READ_BYTES  (256u << 10)
#define EVENTS      64

/* The beginning of a call. */
static const char call[] = "{\"type\": \"ovos.tools.invoke\"";

struct peer {
	int fd; /* or -1 */
	bool is_upgraded;
	bool is_leaving;
	struct buffer input;
	struct buffer output;
};

/* A client of a bus has one, the bus. */
static struct peer clients[CLIENTS_MAX];
static size_t n_clients;
static struct peer process = {.fd = -1};
static bool is_client;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Send what waits for @peer. */
static void flush(struct peer *peer)
{
	for (size_t at = 0; peer->fd >= 0 && at < peer->output.size;) {
		ssize_t n = send(
			peer->fd, peer->output.data + at, peer->output.size - at, MSG_NOSIGNAL);

		if (n < 0)
			break;
		at += (size_t)n;
	}
	buffer_reset(&peer->output);
}

/* Receive once. Return whether the connection goes on. */
static bool receive(struct peer *peer)
{
	char *room = buffer_reserve(&peer->input, READ_BYTES);
	ssize_t n = room ? recv(peer->fd, room, READ_BYTES, 0) : -1;

	if (n > 0)
		peer->input.size += (size_t)n;
	return n > 0;
}

/* Drop the first @size bytes of the input. */
static void drop(struct peer *peer, size_t size)
{
	memmove(peer->input.data, peer->input.data + size, peer->input.size - size);
	peer->input.size -= size;
}

static void broadcast(const char *text, size_t size)
{
	static const unsigned char mask[WEBSOCKET_MASK_BYTES];
	unsigned char header[WEBSOCKET_HEADER_BYTES];
	size_t n =
		websocket_write_header(WEBSOCKET_TEXT, true, size, is_client ? mask : NULL, header);

	for (size_t i = 0; i < n_clients; i++) {
		if (clients[i].fd < 0 || !clients[i].is_upgraded)
			continue;
		buffer_append(&clients[i].output, header, n);
		buffer_append(&clients[i].output, text, size);
	}
}

/* ── between the processes: size, text ───────────────────────────────────────────────────────── */

static void put_message(struct buffer *out, const char *text, size_t size)
{
	uint32_t prefix = (uint32_t)size;

	buffer_append(out, &prefix, sizeof(prefix));
	buffer_append(out, text, size);
}

/* Call @take with each whole message of the input of @peer. */
static void take_messages(struct peer *peer, void (*take)(const char *text, size_t size))
{
	size_t at = 0;
	uint32_t size;

	while (peer->input.size - at >= sizeof(size)) {
		memcpy(&size, peer->input.data + at, sizeof(size));
		if (peer->input.size - at - sizeof(size) < size)
			break;
		take(peer->input.data + at + sizeof(size), size);
		at += sizeof(size) + size;
	}
	drop(peer, at);
}

/* ── the process of the tool ─────────────────────────────────────────────────────────────────── */

static double number_after(const char *text, size_t size, const char *key)
{
	const char *found = memmem(text, size, key, strlen(key));

	return found ? strtod(found + strlen(key), NULL) : 0;
}

/* Answer a message that begins with `{"type": "` and ends with the member `context`. */
static void add(const char *text, size_t size)
{
	static const char before[] = "{\"type\": \"";
	const char *topic = text + sizeof(before) - 1;
	const char *topic_end = memchr(topic, '"', size - sizeof(before) + 1);
	const char *context = memmem(text, size, "\"context\"", strlen("\"context\""));
	char answer[1024];
	int n;

	if (!topic_end || !context)
		return;
	n = snprintf(answer, sizeof(answer),
		"{\"type\": \"%.*s.response\", \"data\": {\"result\": %g}, %.*s",
		(int)(topic_end - topic), topic,
		number_after(text, size, "\"a\": ") + number_after(text, size, "\"b\": "),
		(int)(text + size - context), context);
	put_message(&process.output, answer, (size_t)n);
}

static void run_tool(int fd)
{
	process = (struct peer){.fd = fd};
	while (receive(&process)) {
		take_messages(&process, add);
		flush(&process);
	}
	exit(0);
}

static void start_process(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		fail("socketpair");
	switch (fork()) {
	case -1:
		fail("fork");
		break;
	case 0:
		close(fds[0]);
		run_tool(fds[1]);
		break;
	default:
		close(fds[1]);
		process.fd = fds[0];
	}
}

/* ── the bus ─────────────────────────────────────────────────────────────────────────────────── */

static void take_text(char *text, size_t size)
{
	if (!is_client)
		broadcast(text, size);
	if (process.fd >= 0 &&
		(!is_client || (size > sizeof(call) && memcmp(text, call, sizeof(call) - 1) == 0)))
		put_message(&process.output, text, size);
}

static void answer_ping(struct peer *client, const char *payload, size_t size)
{
	unsigned char header[WEBSOCKET_HEADER_BYTES];

	buffer_append(&client->output, header,
		websocket_write_header(WEBSOCKET_PONG, true, size, NULL, header));
	buffer_append(&client->output, payload, size);
}

/* Take the frame at @at of the input of @client. Return its size, or 0 when a part is missing. */
static size_t take_frame(struct peer *client, size_t at)
{
	unsigned char *bytes = (unsigned char *)client->input.data + at;
	size_t size = client->input.size - at;
	size_t header = is_client ? 2 : 2 + WEBSOCKET_MASK_BYTES;
	size_t length;

	if (size < header + 2)
		return 0;
	length = bytes[1] & WEBSOCKET_SIZE_BITS;
	if (length == WEBSOCKET_SIZE_IN_2_BYTES) {
		length = (size_t)bytes[2] << 8 | bytes[3];
		header += 2;
	}
	if (size - header < length)
		return 0;
	if (!is_client)
		websocket_mask(
			(char *)bytes + header, length, bytes + header - WEBSOCKET_MASK_BYTES);
	switch (bytes[0] & WEBSOCKET_OPCODE_BITS) {
	case WEBSOCKET_TEXT:
		take_text((char *)bytes + header, length);
		break;
	case WEBSOCKET_PING:
		answer_ping(client, (char *)bytes + header, length);
		break;
	case WEBSOCKET_CLOSE:
		client->is_leaving = true;
		break;
	}
	return header + length;
}

static void leave(struct peer *client)
{
	close(client->fd);
	client->fd = -1;
	buffer_deinit(&client->input);
	buffer_deinit(&client->output);
}

/* Grant the upgrade once its request is whole. Return the size of the request. */
static size_t grant(struct peer *client)
{
	static const struct http_limits limits = {READ_BYTES, READ_BYTES, 0};
	struct http_reader request = {0};
	size_t size;

	http_reader_begin(&request, &limits);
	size = http_reader_feed(&request, client->input.data, client->input.size);
	client->is_upgraded = request.state == HTTP_DONE;
	if (client->is_upgraded)
		upgrade_grant(&request, &client->output);
	http_reader_deinit(&request);
	return size;
}

static void serve_client(struct peer *client)
{
	size_t at = 0;
	size_t size;

	if (!receive(client)) {
		leave(client);
		return;
	}
	if (!client->is_upgraded)
		at = grant(client);
	if (!client->is_upgraded)
		return;
	while ((size = take_frame(client, at)) > 0)
		at += size;
	drop(client, at);
	if (client->is_leaving)
		leave(client);
}

static void watch(int epoll, int fd, struct peer *peer)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		fail("epoll_ctl");
}

static void accept_client(int epoll, int listener)
{
	static const int on = 1;
	struct peer *client = &clients[n_clients];
	int fd = accept(listener, NULL, NULL);

	if (fd < 0 || n_clients == CLIENTS_MAX)
		fail("accept");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*client = (struct peer){.fd = fd};
	n_clients++;
	watch(epoll, fd, client);
}

static int listen_anywhere(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 16) < 0 ||
		getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		fail("listen");
	printf("ready %d\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* Be a client of the bus at @url. */
static void join(int epoll, const char *url)
{
	struct websocket bus;

	if (websocket_open(&bus, url) < 0)
		exit(1);
	is_client = true;
	clients[n_clients++] = (struct peer){.fd = bus.fd, .is_upgraded = true};
	buffer_append(&clients[0].input, bus.input.data + bus.at, bus.input.size - bus.at);
	buffer_deinit(&bus.input);
	buffer_deinit(&bus.output);
	watch(epoll, bus.fd, &clients[0]);
	puts("ready");
	fflush(stdout);
}

int main(int count, char **arguments)
{
	struct epoll_event events[EVENTS];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	bool is_relay = count == 2 && strcmp(arguments[1], "--relay") == 0;
	int listener = -1;

	signal(SIGPIPE, SIG_IGN);
	if (!is_relay) {
		start_process();
		watch(epoll, process.fd, &process);
	}
	if (count == 1 || is_relay) {
		listener = listen_anywhere();
		watch(epoll, listener, NULL);
	} else {
		join(epoll, arguments[1]);
	}
	while (!is_client || clients[0].fd >= 0) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct peer *peer = events[i].data.ptr;

			if (!peer)
				accept_client(epoll, listener);
			else if (peer != &process)
				serve_client(peer);
			else if (receive(&process))
				take_messages(&process, broadcast);
			else
				return 0;
		}
		flush(&process);
		for (size_t i = 0; i < n_clients; i++)
			flush(&clients[i]);
	}
	return 0;
}
