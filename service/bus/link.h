/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loop/loop.h"
#include "tls/client.h"
#include "util/buffer.h"

/*
 * The bytes between a client and a server, over a socket, by TLS or without.
 *
 *   link_open ─▶ CONNECTING ──connected──▶ SECURING ──handshake──▶ READY ─▶ link_read, link_write
 *                     └────────────────── no TLS ───────────────────┘
 *
 * The socket takes the bytes for which it has room, and the others wait here. Reading goes on
 * meanwhile: a server that waits for us to read before it reads on would wait for ever.
 *
 * A zeroed struct is a closed link.
 */
enum link_state {
	LINK_CLOSED,
	LINK_CONNECTING,
	LINK_SECURING,
	LINK_READY,
};

struct link {
	enum link_state state;
	int fd;
	struct loop_source *source;
	uint32_t events;         /* that the source watches for */
	struct tls_session *tls; /* or NULL */
	struct buffer rest;      /* bytes that were written in part */
	size_t sent;             /* bytes of the rest that the socket has taken */
};

/* Begin to connect a closed @link to @port at the numeric @address. @function is called with @data
 * for its events. Return 0 or a negative errno; then @link is closed. */
int link_open(struct link *link, struct loop *loop, const char *address, uint16_t port,
	loop_fd_function function, void *data);

/*
 * Go on with a link that is not ready, after an event. @client secures it for the server @host;
 * NULL: no TLS. Return 0, and the state is LINK_READY or another event is waited for; or a negative
 * errno with @ret_reason a text for a person.
 */
int link_advance(struct link *link, struct tls_client *client, const char *host,
	char ret_reason[TLS_REASON_BYTES]);

/* Close @link, and drop the bytes that wait. A closed one stays so. */
void link_close(struct link *link);

/* Block until the server has closed a link that is ready, @wait_ms at most, and drop what it sends
 * until then. */
void link_await_end(struct link *link, uint64_t wait_ms);

/* Read up to @size bytes, at least TLS_RECORD_BYTES. Return their number, 0 at the end, -EAGAIN
 * when there are none now, or another negative errno when the connection is lost. */
ssize_t link_read(struct link *link, void *ret_bytes, size_t size);

/* Return whether no bytes wait, so that link_write() may be called. */
bool link_is_clear(const struct link *link);

/* Write @bytes, of which a copy of the rest is kept. Return 0, or a negative errno when the
 * connection is lost. */
int link_write(struct link *link, const void *bytes, size_t size);

/* Send what the socket takes of the bytes that wait. Return 0, or a negative errno when the
 * connection is lost. */
int link_flush(struct link *link);

/* Watch a link that is ready for bytes to read, and if @is_writing for room to write. */
void link_watch(struct link *link, bool is_writing);

/* Return whether an event will report room to write. */
bool link_awaits_room(const struct link *link);
