/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/bus.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "bus/endpoint.h"
#include "util/assert.h"

/* The common part of the two kinds of endpoint: its state, and the texts of the log. */

const struct bus_limits bus_limits_default = {
	.frame_bytes = BUS_FRAME_BYTES,
	.output_queue_bytes = BUS_OUTPUT_QUEUE_BYTES,
	.peer_bytes = BUS_PEER_BYTES,
	.stall_ms = BUS_STALL_MS,
};

void bus_init(struct bus *bus, const struct bus_operations *operations, struct loop *loop,
	const struct bus_address *address, const struct bus_limits *limits,
	const struct bus_handler *handler, void *data)
{
	check(operations->free && operations->queue && operations->queued_bytes);
	*bus = (struct bus){
		.operations = operations,
		.loop = loop,
		.address = *address,
		.limits = *limits,
		.handler = *handler,
		.data = data,
		.book = {.bytes_max = limits->peer_bytes},
	};
	bus->own = (struct account){.book = &bus->book, .references = 1};
}

void bus_free(struct bus *bus)
{
	if (bus)
		bus->operations->free(bus);
}

void bus_set_token(struct bus *bus, const char *token)
{
	if (bus->operations->set_token && strcmp(bus->address.token, token) != 0)
		bus->operations->set_token(bus, token);
}

const struct bus_address *bus_address(const struct bus *bus)
{
	return &bus->address;
}

struct account *bus_account_new(struct bus *bus)
{
	return account_new(&bus->book);
}

size_t bus_begin_reading(struct bus *bus, size_t bytes)
{
	struct account_book *book = &bus->book;
	size_t room = book->bytes_max / ACCOUNT_READING_SHARE - book->reading;
	size_t counted = bytes < room ? bytes : room;

	book->reading += counted;
	if (bus->operations->make_room)
		bus->operations->make_room(bus);
	return counted;
}

void bus_end_reading(struct bus *bus, size_t bytes)
{
	check(bytes <= bus->book.reading);
	bus->book.reading -= bytes;
}

bool bus_is_up(const struct bus *bus)
{
	return bus->is_up;
}

const struct bus_counters *bus_counters(const struct bus *bus)
{
	return &bus->counters;
}

size_t bus_queued_bytes(const struct bus *bus)
{
	return bus->operations->queued_bytes(bus);
}

void bus_warn_refused(struct bus *bus, enum intake_result result)
{
	struct log_rate *rate = &bus->rates.frames;

	switch (result) {
	case INTAKE_NO_TOPIC:
		bus_warn(rate, "dropped a frame that is not a message: it has no usable 'type'");
		break;
	case INTAKE_OVERSIZED:
		bus->counters.frames_oversized++;
		bus_warn(rate, "dropped a frame over %zu bytes (limits.frame_bytes)",
			bus->limits.frame_bytes);
		break;
	case INTAKE_CROWDED:
		bus_warn(rate, "dropped a frame: other unfinished frames leave no room for it");
		break;
	case INTAKE_SHORT:
		bus_warn(rate, "dropped a frame: %s", strerror(ENOMEM));
		break;
	case INTAKE_MORE:
	case INTAKE_WHOLE:
	case INTAKE_FOREIGN:
		break;
	}
}

void bus_warn_binary(struct bus *bus)
{
	bus_warn(&bus->rates.frames, "dropped a binary frame: a message is a text frame");
}

void bus_socket_setup(int fd)
{
	static const int on = 1;
	static const int unsent_bytes = BUS_UNSENT_BYTES;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof(unsent_bytes));
}
