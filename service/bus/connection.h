/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bus/link.h"
#include "bus/websocket.h"

/*
 * A websocket over a link, as both of its sides have it (RFC 6455 §5.5):
 *
 *   bytes ─▶ connection_take ─┬─ text, binary ──▶ a piece, for the caller
 *                             ├─ pong ──────────▶ reported
 *                             ├─ ping ──────────▶ a pong is due ─┐
 *                             │       is_ping_due: a ping is due ┴─▶ connection_flush ─▶ link
 *                             └─ close, broken ─▶ a close frame ───────────────────────▶ link
 *
 * However many pings come, one pong is due, for the last of them. Control frames go between the
 * fragments of a message, and wait while the link has bytes of a frame. A close frame does not
 * wait: a peer that leaves and has not read these bytes gets none.
 *
 * The owner opens the link, and closes it after the last two.
 */

/* Bytes of one read; sizes from 4 kB to 256 kB differ by less than 15%. The stack protector touches
 * each page of them, so more would be resident at rest. */
#define CONNECTION_READ_BYTES (16u << 10)

/* The status of a close frame (§7.4.1). */
#define CONNECTION_LEAVES 1000
#define CONNECTION_BROKEN 1002

struct connection {
	struct link link;
	struct websocket_reader reader;
	bool is_ping_due;
	bool is_pong_due;
	unsigned char ping[WEBSOCKET_CONTROL_BYTES]; /* the payload of the ping to answer */
	size_t ping_size;
};

enum connection_event {
	CONNECTION_E_MORE,   /* nothing for the caller */
	CONNECTION_E_PIECE,  /* bytes of a message */
	CONNECTION_E_PONG,   /* its payload is reader.control */
	CONNECTION_E_CLOSED, /* the peer leaves */
	CONNECTION_E_BROKEN, /* the peer breaks the protocol */
};

/* Prepare for the first frame over the link, which is open. */
void connection_begin(struct connection *connection);

/* Take the control frame just read. */
enum connection_event connection_take_control(
	struct connection *connection, enum websocket_opcode opcode);

/* Write a control frame. Return 0, or a negative errno when the connection is lost. */
int connection_write(struct connection *connection, enum websocket_opcode opcode,
	const void *payload, size_t size);

/* Write the waiting bytes and a close frame with @status, if the socket takes them now. Return
 * whether it was written. */
bool connection_close(struct connection *connection, unsigned int status);

/* Write the due pong and ping. As connection_flush(). */
int connection_write_due(struct connection *connection);

/* Read on in the @size received bytes at @bytes, up to the next event, and add the number of used
 * bytes to *used. They are unmasked in place. */
static inline enum connection_event connection_take(struct connection *connection, char *bytes,
	size_t size, size_t *used, struct websocket_piece *ret_piece)
{
	enum websocket_opcode opcode = WEBSOCKET_CONTINUATION;

	switch (websocket_read(&connection->reader, bytes, size, used, ret_piece, &opcode)) {
	case WEBSOCKET_E_PIECE:
		return CONNECTION_E_PIECE;
	case WEBSOCKET_E_CONTROL:
		return connection_take_control(connection, opcode);
	case WEBSOCKET_E_BROKEN:
		connection_close(connection, CONNECTION_BROKEN);
		return CONNECTION_E_BROKEN;
	case WEBSOCKET_E_MORE:
		break;
	}
	return CONNECTION_E_MORE;
}

/* Return whether a pong or a ping is due. */
static inline bool connection_is_due(const struct connection *connection)
{
	return connection->is_ping_due || connection->is_pong_due;
}

/* Write the waiting bytes, then the due control frames, as far as the socket takes them. Return 0,
 * or a negative errno when the connection is lost. */
static inline int connection_flush(struct connection *connection)
{
	int r = link_flush(&connection->link);

	return r == 0 && connection_is_due(connection) ? connection_write_due(connection) : r;
}
