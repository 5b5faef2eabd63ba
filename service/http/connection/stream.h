/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "http/connection/connection.h"

/*
 * A response as a stream: its parts are sent as they come, as chunks (RFC 9112 §7.1); in HTTP/1.0
 * all bytes until the close.
 *
 *   http_stream_begin ─▶ http_stream_write … ─▶ http_stream_end
 *                          a comment, where there is nothing to write for long
 */

/* A silent stream has a comment in this time: proxies close a stream silent for longer. */
#define STREAM_ALIVE_MS 15000

/* Begin a stream of server-sent events, as the response. A response to HEAD is ended before
 * anything is written to it. */
void http_stream_begin(struct http_connection *connection);

/* Send @text as the next part of it, or queue it. Return the queued bytes. */
size_t http_stream_write(struct http_connection *connection, const char *text, size_t size);

/* Return the bytes that are queued. */
size_t http_stream_queued(const struct http_connection *connection);

/* End the response; the connection may be gone afterwards. */
void http_stream_end(struct http_connection *connection);

/* For the files of this folder. */

/* Send what is there of the stream. */
void connection_stream_on(struct http_connection *connection);

/* Write a comment to a stream that has nothing to send. Return whether @connection is a stream. */
bool connection_keep_alive(struct http_connection *connection);
