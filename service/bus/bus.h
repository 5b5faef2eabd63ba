/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/address.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * A seat on the message bus.
 *
 * Two ways to have one, alike for whoever sits on it:
 *
 *   bus_connect   a websocket client of somebody's bus, that finds its way back when the bus goes
 *   bus_embed     we are the bus: a websocket server that broadcasts every text frame to everybody,
 *                 its sender included, with a seat of our own inside the process (no socket, no
 *                 copy)
 *
 * The bus sends everybody everything, what we say ourselves, too: that comes later, from the loop,
 * never out of bus_send(). So a frame is first asked for by its topic, which is found by
 * a scan that builds nothing (bus/envelope.h); a foreign one is never even gathered.
 */
struct bus;

struct bus_handler {
	/* Whether frames with this topic (decoded, @size bytes, not NUL-terminated) are ours.
	 * NULL: all. */
	bool (*wants)(void *data, const char *topic, size_t size);

	/* A whole text frame whose topic was wanted. The bytes are only good during the call. */
	void (*frame)(void *data, const char *text, size_t size);

	/* The bus is there (again), or is gone; @why is for the log. Either may be NULL. */
	void (*up)(void *data);
	void (*down)(void *data, const char *reason);

	/* An attempt to reach the bus has failed on all of its addresses; the next one is on its
	 * way. NULL: told in the log. */
	void (*unreachable)(void *data, const char *reason);
};

struct bus_limits {
	size_t frame_bytes;        /* a larger frame is discarded as it arrives, the link kept */
	size_t output_queue_bytes; /* to the bus: what does not fit is refused, newest first */
	size_t client_queue_bytes; /* embedded bus: a client with more unread is dropped */
};

/* contract.md, Limits. */
#define BUS_FRAME_BYTES        (10u << 20)
#define BUS_OUTPUT_QUEUE_BYTES (64u << 20)
#define BUS_CLIENT_QUEUE_BYTES (16u << 20)
extern const struct bus_limits bus_limits_default;

/*
 * Be a client of the bus at @address. Returns at once; up() tells when it is there. Never gives up:
 * back-off from 0.5 s doubling to 30 s with jitter, reset on success; a ping every 20 s, and a new
 * connection when neither a pong nor data comes within 10 s. @handler is copied, @data passed to
 * it. 0 or a negative errno.
 */
int bus_connect(struct loop *loop, const struct bus_address *address,
	const struct bus_limits *limits, const struct bus_handler *handler, void *data,
	struct bus **ret_bus);

/*
 * Be the bus at @address, for all who are no web page, and for the pages of the @n_origins
 * @origins (copied): see bus/admission.h. 0; -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, … when the port
 * cannot be used; up() is called from the loop. Port 0 takes any free one: see bus_address().
 */
int bus_embed(struct loop *loop, const struct bus_address *address, const char *const *origins,
	size_t n_origins, const struct bus_limits *limits, const struct bus_handler *handler,
	void *data, struct bus **ret_bus);

/* Takes NULL. Whatever is still queued is dropped. */
void bus_free(struct bus *bus);

/* The address in use, with the port that was taken. */
const struct bus_address *bus_address(const struct bus *bus);

bool bus_is_up(const struct bus *bus);

struct bus_counters {
	uint64_t frames_received; /* all of them */
	uint64_t frames_oversized;
	uint64_t frames_sent;
	uint64_t frames_dropped; /* queue full, or the bus was away */
	uint64_t connects;
	uint32_t clients; /* embedded bus: connected now */
};
const struct bus_counters *bus_counters(const struct bus *bus);

/*
 * Messages are built in place: bus_message_begin() leaves room in front for the websocket frame,
 * the text is appended, and bus_send() takes the whole buffer over, so that nothing is copied.
 */
void bus_message_begin(struct buffer *message);

/* The text of a message so far, and its size. */
const char *bus_message_text(const struct buffer *message, size_t *ret_size);

/*
 * Queue @message and take its memory (the buffer is empty afterwards, in every case). 0, or
 * -ENOTCONN (the bus is away: what is said meanwhile is lost, as on any bus), -ENOBUFS (queue
 * full), -EMSGSIZE (over frame_bytes), or the failure that the buffer had noted. Whatever is not
 * queued is counted and logged here.
 */
int bus_send(struct bus *bus, struct buffer *message);

/* Bytes queued and not yet given to the kernel. */
size_t bus_queued_bytes(const struct bus *bus);

CLEANUP_DEFINE(bus, struct bus *, bus_free)
