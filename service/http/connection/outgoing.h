/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "http/connection/bytes.h"
#include "tls/session.h"
#include "util/buffer.h"

/*
 * The response of a connection, as far as it is written and not sent yet.
 *
 *   head ─ sent ─┬─ left ─────┐ then  body ┬─ sent ─┬─ left ─────┐
 *             head_at     head.size        at    body_at      body_end
 *
 * The body is a text of its own, or a text shared with other responses. A stream has none: its
 * chunks are appended to the head.
 */
struct http_outgoing {
	struct buffer head; /* written by the connection */
	size_t head_at;
	struct buffer body;
	struct http_bytes *bytes; /* instead of body, or NULL */
	size_t body_at;
	size_t body_end;
};

/* Return the bytes left. */
static inline size_t http_outgoing_left(const struct http_outgoing *outgoing)
{
	return outgoing->head.size - outgoing->head_at + (outgoing->body_end - outgoing->body_at);
}

/* Take over @body, whose bytes from @at on are sent after the head. */
void http_outgoing_take(struct http_outgoing *outgoing, struct buffer *body, size_t at);

/* Send @bytes after the head, with a reference of its own. */
void http_outgoing_share(struct http_outgoing *outgoing, struct http_bytes *bytes);

/* Send the head alone. */
void http_outgoing_omit_body(struct http_outgoing *outgoing);

/* Send some of the bytes left, over @tls unless NULL. Return the number of bytes, or -1 with
 * errno. */
ssize_t http_outgoing_send(struct http_outgoing *outgoing, int fd, struct tls_session *tls);

/* Forget the response, and keep some memory for the next one. */
void http_outgoing_reset(struct http_outgoing *outgoing);

void http_outgoing_deinit(struct http_outgoing *outgoing);
