/* SPDX-License-Identifier: Apache-2.0 */
#include "seat.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PATIENCE_MS 60000

const char upgrade[] = "GET /any/path HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
		       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		       "Sec-WebSocket-Key: YSBiZW5jaCdzIGtleSBpcw==\r\n\r\n";

int say(struct endpoint *endpoint, const char *text)
{
	struct buffer message = {0};

	bus_message_begin(&message);
	buffer_append_string(&message, text);
	return bus_send(endpoint->bus, &message, BUS_SHARE_OWN);
}

int say_bytes(struct endpoint *endpoint, size_t size)
{
	struct buffer message = {0};

	bus_message_begin(&message);
	memset(buffer_reserve(&message, size), 'x', size);
	message.size += size;
	return bus_send(endpoint->bus, &message, BUS_SHARE_OWN);
}

void on_frame(void *data, const char *text, size_t size)
{
	struct endpoint *endpoint = data;

	if (size < 1000) {
		buffer_append(&endpoint->received, text, size);
		buffer_append_char(&endpoint->received, '\n');
	}
	endpoint->bytes += size;
	endpoint->frames++;
	if (endpoint->answer)
		cr_assert_eq(say(endpoint, take_ptr(endpoint->answer)), 0);
	if (endpoint->frames == endpoint->stop_at_frames)
		loop_stop(endpoint->loop);
}

static void on_up(void *data)
{
	struct endpoint *endpoint = data;

	if (endpoint->stops_when_up)
		loop_stop(endpoint->loop);
}

static void on_down(void *data, const char *reason)
{
	struct endpoint *endpoint = data;

	cr_assert_not_null(reason);
	if (endpoint->stops_when_down)
		loop_stop(endpoint->loop);
}

static void on_unreachable(void *data, const char *reason)
{
	struct endpoint *endpoint = data;

	cr_assert_not_null(reason);
	if (endpoint->stops_when_unreachable)
		loop_stop(endpoint->loop);
}

struct bus_handler handler_of(const struct endpoint *endpoint)
{
	return (struct bus_handler){.wants = endpoint->wants,
		.frame = on_frame,
		.up = on_up,
		.down = on_down,
		.unreachable = on_unreachable};
}

void run(struct loop *loop)
{
	cr_assert_eq(loop_run(loop, PATIENCE_MS), 0);
}

struct loop *new_loop(void)
{
	struct loop *loop = NULL;

	cr_assert_eq(loop_new(&loop), 0);
	return loop;
}

void embed_at(struct endpoint *endpoint, struct loop *loop, uint16_t port,
	const struct bus_limits *limits)
{
	struct bus_address address = bus_address_default;
	struct bus_handler handler = handler_of(endpoint);

	address.port = port;
	endpoint->loop = loop;
	endpoint->stops_when_up = true;
	cr_assert_eq(
		bus_embed(loop, &address, NULL, 0, limits, &handler, endpoint, &endpoint->bus), 0);
	run(loop);
	cr_assert(bus_is_up(endpoint->bus));
}

void embed(struct endpoint *endpoint, struct loop *loop)
{
	embed_at(endpoint, loop, 0, &bus_limits_default);
}

void join(struct endpoint *endpoint, const struct endpoint *bus, const struct bus_limits *limits)
{
	struct bus_handler handler = handler_of(endpoint);

	endpoint->loop = bus->loop;
	endpoint->stops_when_up = true;
	cr_assert_eq(bus_connect(endpoint->loop, bus_address(bus->bus), limits, &handler, endpoint,
			     &endpoint->bus),
		0);
	run(endpoint->loop);
	cr_assert(bus_is_up(endpoint->bus));
}

void leave(struct endpoint *endpoint)
{
	bus_free(take_ptr(endpoint->bus));
	buffer_deinit(&endpoint->received);
}

void expect_received(struct endpoint *endpoint, const char *lines)
{
	cr_assert_str_eq(buffer_terminate(&endpoint->received), lines);
}

int dial(const struct endpoint *bus, const char *request)
{
	struct sockaddr_in name = {.sin_family = AF_INET,
		.sin_port = htons(bus_address(bus->bus)->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
	return fd;
}

void run_until_clients(struct endpoint *bus, uint32_t clients)
{
	for (int turn = 0; turn < 500 && bus_counters(bus->bus)->clients != clients; turn++)
		loop_run(bus->loop, 5);
	cr_assert_eq(bus_counters(bus->bus)->clients, clients);
}

int embed_and_dial(struct endpoint *bus, struct loop *loop)
{
	int fd;

	embed(bus, loop);
	fd = dial(bus, upgrade);
	run_until_clients(bus, 1);
	return fd;
}

void push_bytes(int fd, char *frame, size_t size, size_t *sent)
{
	ssize_t n = send(fd, frame + *sent, size - *sent, MSG_DONTWAIT);

	*sent += n > 0 ? (size_t)n : 0;
	if (*sent == size)
		*sent = 0;
}
