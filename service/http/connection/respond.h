/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/connection/bytes.h"
#include "http/connection/connection.h"
#include "http/connection/handler.h"
#include "http/connection/head.h"
#include "util/buffer.h"

/*
 * The response to a request: at once, or when somebody has the answer.
 *
 *   WAITING ─┬─ http_respond ──────────────────────▶ WRITING
 *            ├─ http_delay, then http_respond ─────▶ WRITING
 *            └─ http_wait: the peer goes away ─────▶ waiter.gone
 */

/* Add a header line, ended by CR LF, to the next response. */
void http_connection_add_field(struct http_connection *connection, const char *line);

/* Call @respond with the connection after @delay_ms, unless the peer goes away before. */
void http_delay(struct http_connection *connection, uint64_t delay_ms,
	void (*respond)(struct http_connection *connection));

/* Wait for the answer: @waiter (copied) is called if the peer goes away before. */
void http_wait(struct http_connection *connection, const struct http_waiter *waiter);

/* Send @response with the bytes of @body from @at on, which is taken over. The body of an answer to
 * HEAD is not sent. The connection may be gone afterwards. */
void http_respond(struct http_connection *connection, const struct http_response *response,
	struct buffer *body, size_t at);

/* As http_respond(), with a reference of its own to @bytes. */
void http_respond_bytes(struct http_connection *connection, const struct http_response *response,
	struct http_bytes *bytes);

/* Send the error @status with the JSON object {"error": @text, "code": its code}. @text: a printf
 * format. */
void http_respond_error(struct http_connection *connection, unsigned int status, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* For the files of this folder. */

/* Write the head of @response up to its own lines. */
void connection_begin_head(
	struct http_connection *connection, const struct http_response *response, bool has_body);

/* Return whether the request is HEAD: its response has no body. */
bool connection_is_head(const struct http_connection *connection);

/* Charge @size more bytes to be sent. When peers hold too much, the connection with most of them is
 * given up. */
void connection_charge_queued(struct http_connection *connection, size_t size);

/* Send what is there of the response. Return whether all of it was sent; else more follows, or the
 * connection is doomed. */
bool connection_write_on(struct http_connection *connection);
