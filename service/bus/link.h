/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "loop/loop.h"
#include "tls/client.h"
#include "util/buffer.h"

/*
 * The bytes between a client and a server, over a socket, by TLS or without.
 *
 *   link_open ─▶ CONNECTING ──connected──▶ SECURING ──handshake──▶ READY ─▶ link_read, link_write
 *                     └────────────────── no TLS ───────────────────┤
 *   link_adopt ── a client's socket ────────────────────────────────┘
 *
 * The socket takes as many bytes as it has room for, and the others wait here. Reading goes on
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
	bool is_client;  /* we are the client */
	bool is_ack_due; /* bytes were written: a client's next read has to acknowledge at once */
	int fd;
	struct loop_source *source;
	uint32_t events;         /* watched for by the source */
	struct tls_session *tls; /* or NULL */
	struct buffer rest;      /* partly written bytes */
	size_t sent;             /* bytes of the rest taken by the socket */
};

/* Begin to connect a closed @link to @port at the numeric @address. @function is called with @data
 * for its events. Return 0 or a negative errno; then @link is closed. */
int link_open(struct link *link, struct loop *loop, const char *address, uint16_t port,
	loop_fd_function function, void *data);

/* Serve the client at the other end of @fd, which the closed @link takes over. @function is called
 * with @data for its events, at first for bytes to read. Return 0 or a negative errno; then @link
 * and @fd are closed. */
int link_adopt(struct link *link, struct loop *loop, int fd, loop_fd_function function, void *data);

/*
 * Go on with an unready link after an event. @client secures it for the server @host; NULL: no TLS.
 * Return 0, and the state is LINK_READY or waits for another event; or a negative errno with
 * @ret_reason a text for a person.
 */
int link_advance(struct link *link, struct tls_client *client, const char *host,
	char ret_reason[TLS_REASON_BYTES]);

/* Close @link, and drop the waiting bytes. A closed link stays so. */
void link_close(struct link *link);

/* Block until the server has closed a ready link, @wait_ms at most, and drop all bytes received
 * until then. */
void link_await_end(struct link *link, uint64_t wait_ms);

/* Read up to @size bytes, at least TLS_RECORD_BYTES. Return their number, 0 at the end, -EAGAIN
 * without bytes now, or another negative errno when the connection is lost. */
ssize_t link_read(struct link *link, void *ret_bytes, size_t size);

/* Return whether no bytes wait, so link_write() may be called. */
bool link_is_clear(const struct link *link);

/* Write @bytes, and keep a copy of the rest. Return 0, or a negative errno when the connection is
 * lost. */
int link_write(struct link *link, const void *bytes, size_t size);

/* Send the @n @parts, as far as the socket takes them, and keep nothing. Only without TLS, and when
 * no bytes wait. Return the number of sent bytes, or a negative errno when the connection is lost.
 */
ssize_t link_send(struct link *link, struct iovec *parts, size_t n);

/* Append a copy of @bytes to the waiting bytes. Return 0 or -ENOMEM. */
int link_keep(struct link *link, const void *bytes, size_t size);

/* Send as many waiting bytes as the socket takes. Return 0, or a negative errno when the connection
 * is lost. */
int link_flush(struct link *link);

/* Watch a ready link for @events: EPOLLIN, bytes to read; EPOLLOUT, room to write; with EPOLLET,
 * only for new bytes or room. */
void link_watch(struct link *link, uint32_t events);

/* Report an event that holds now, though it was reported before and the link watches with EPOLLET.
 */
void link_watch_again(struct link *link);

/* Return whether an event will report room to write. */
bool link_awaits_room(const struct link *link);
