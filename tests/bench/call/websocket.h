/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * The least of a websocket client (RFC 6455) that a bus needs, on a blocking socket: text frames,
 * fragments, pings. No TLS. The bus is trusted: this is for benches.
 */
struct websocket {
	int fd;
	bool is_ack_due;     /* written since the last read */
	struct buffer input; /* as read; the frames before @at are done */
	size_t at;
	struct buffer message; /* gathered from fragments */
	struct buffer output;  /* one frame */
};

/* Connect to the bus at @url. 0, or -1 after a line on stderr. */
int websocket_open(struct websocket *websocket, const char *url);

/* Close, and connect again after a pause, for some seconds as often as it fails. 0 or -1, as
 * above. */
int websocket_reopen(struct websocket *websocket, const char *url);

/* Leave by the closing handshake: the bus has some seconds to close the connection. */
void websocket_close(struct websocket *websocket);

/* Send one text frame. 0 or -1. */
int websocket_send(struct websocket *websocket, const char *text, size_t size);

/* The next message; it is good until the next call. 1, 0 when @timeout_ms (negative: none) pass
 * without one, or -1 when the connection is over. */
int websocket_receive(
	struct websocket *websocket, int timeout_ms, const char **ret_text, size_t *ret_size);
