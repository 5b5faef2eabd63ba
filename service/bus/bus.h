/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/address.h"
#include "loop/loop.h"
#include "message/response.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * An endpoint of the message bus.
 *
 * There are two kinds, with one interface:
 *
 *   bus_connect   a websocket client of another program's bus, which reconnects after a loss
 *   bus_embed     a bus of our own: a websocket server that sends every text frame to every client,
 *                 the sender included, with our endpoint inside the process (no socket, no copy)
 *
 * The bus delivers every message to every client, our own messages included. They arrive later,
 * from the loop, never from within bus_send(). Because most frames are for others, the handler is
 * first asked by topic, which a scan finds without building anything (message/envelope.h). A frame
 * that is not wanted is not even kept in memory.
 */
struct bus;
struct account;

struct bus_handler {
	/* Return whether frames with this @topic (decoded, @size bytes, not NUL-terminated) are
	 * wanted. NULL: all are. */
	bool (*wants)(void *data, const char *topic, size_t size);

	/* Take a whole text frame whose topic was wanted. @text is valid during the call only. */
	void (*frame)(void *data, const char *text, size_t size);

	/* The bus is connected, or connected again; the connection is lost, for @reason (text for
	 * the log). Either may be NULL. */
	void (*up)(void *data);
	void (*down)(void *data, const char *reason);

	/* Embedded bus: the peer with @account has gone. The bus may be in the middle of sending:
	 * do not send. NULL: it does not matter. */
	void (*peer_gone)(void *data, const struct account *account);

	/* An attempt failed on every address of the bus, and the next one is scheduled. NULL: the
	 * failure is logged instead. */
	void (*unreachable)(void *data, const char *reason);
};

struct bus_limits {
	size_t frame_bytes;        /* a larger frame is discarded while it arrives; the
				      connection is kept */
	size_t output_queue_bytes; /* queue to the bus: a new frame without room is refused */
	size_t peer_bytes;         /* all memory held for peers (bus/account.h) */
	uint64_t stall_ms;         /* embedded bus: a client with waiting bytes that reads
				      nothing for so long is disconnected */
};

/* contract.md, Limits. */
#define BUS_FRAME_BYTES        (10u << 20)
#define BUS_OUTPUT_QUEUE_BYTES (64u << 20)
#define BUS_PEER_BYTES         (64u << 20)
#define BUS_STALL_MS           10000
extern const struct bus_limits bus_limits_default;

/*
 * Connect to the bus at @address and return at once; up() reports the connection. Attempts never
 * end: the back-off doubles from 0.5 s to 30 s, with jitter, and starts over after a success. A
 * ping is sent every 20 s; without a pong or data within 10 s the connection is replaced. @handler
 * is copied, @data is passed to it. Return 0 or a negative errno.
 */
int bus_connect(struct loop *loop, const struct bus_address *address,
	const struct bus_limits *limits, const struct bus_handler *handler, void *data,
	struct bus **ret_bus);

/*
 * Serve a bus at @address. Programs may connect, and the web pages of the @n_origins @origins
 * (copied): see bus/admission.h. Port 0 takes any free port: see bus_address(). up() is called from
 * the loop. Return 0, or -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, … when the port cannot be used.
 */
int bus_embed(struct loop *loop, const struct bus_address *address, const char *const *origins,
	size_t n_origins, const struct bus_limits *limits, const struct bus_handler *handler,
	void *data, struct bus **ret_bus);

/* Embedded bus: ask every new client for @token from now on; "": for no token. When the token
 * changes, clients are disconnected, since they may have shown the previous token. A client of a
 * bus of others ignores the token. */
void bus_set_token(struct bus *bus, const char *token);

/* The time for a bus of others to close the connection when we leave. Our units have 10 s for a
 * stop (TimeoutStopSec), with drain_ms. A bus that reads our last messages only after this time may
 * lose them: ovos-messagebus sends each message to its sender, too, and fails at a connection that
 * has gone. */
#define BUS_LEAVE_MS 2000

/* Free @bus, which may be NULL. Queued frames are dropped. A client takes leave of its bus, which
 * blocks for BUS_LEAVE_MS at most. */
void bus_free(struct bus *bus);

/* Return the address in use, with the actual port. */
const struct bus_address *bus_address(const struct bus *bus);

bool bus_is_up(const struct bus *bus);

struct bus_counters {
	uint64_t frames_received; /* every frame, wanted or not */
	uint64_t frames_oversized;
	uint64_t frames_sent;
	uint64_t frames_dropped; /* the queue was full, or the bus was away for too long */
	uint64_t connects;
	uint32_t clients; /* embedded bus: connected at this moment */
};
const struct bus_counters *bus_counters(const struct bus *bus);

/* Count @n messages that are about to be sent, which the bus returns, and return their number so
 * far (core/other_services.h compares). */
uint64_t bus_count_answers(struct bus *bus, unsigned int n);

/* The time for which messages wait for a bus that was lost; then they are dropped. */
#define BUS_AWAY_MS 10000

/*
 * Queue @message in @share and take its memory: the buffer is empty afterwards, even after an
 * error. Return 0; -ENOTCONN before the first connection, or when it was lost BUS_AWAY_MS ago;
 * -ENOBUFS when the share or the queue is full; -EMSGSIZE for more than frame_bytes; or the error
 * recorded by the buffer. Errors are counted and logged here.
 */
int bus_send(struct bus *bus, struct buffer *message, unsigned int share);

/* Return the share for responses to the source of @envelope. An embedded bus has a queue for each
 * peer, so no source needs a share of its own. */
unsigned int bus_share(const struct bus *bus, const struct bus_envelope *envelope);

/* Return the account to charge messages to now: the account of the peer whose frame is handled, or
 * our own. */
struct account *bus_sender(const struct bus *bus);

/* From now on charge messages to @account; NULL: to our own. Return the account before, for the
 * caller to restore. */
struct account *bus_act_for(struct bus *bus, struct account *account);

/* Create an account, with one reference, for a peer outside of the bus. NULL without memory. */
struct account *bus_account_new(struct bus *bus);

/* Count @bytes of the tokens of a message that is read as memory of the peers, up to half of
 * limits.peer_bytes. Clients that do not read make room. Return the counted bytes, for
 * bus_end_reading(). */
size_t bus_begin_reading(struct bus *bus, size_t bytes);

/* Take back @bytes of bus_begin_reading(). */
void bus_end_reading(struct bus *bus, size_t bytes);

/* Return the bytes queued and not yet passed to the kernel. */
size_t bus_queued_bytes(const struct bus *bus);

CLEANUP_DEFINE(bus, struct bus *, bus_free)

/* The most bytes in a socket beyond the bytes on their way to the peer: else the kernel would hold
 * megabytes for each client that reads nothing, in no account, and slow to free. */
#define BUS_UNSENT_BYTES (256 << 10)

/* Send each small write at once, detect peers gone without closing the connection, and keep little
 * in the kernel. */
void bus_socket_setup(int fd);
