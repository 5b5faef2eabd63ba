/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * A server of a model for units, in a thread of its own: each connection receives the next text of
 * a script, after its request has come, and is closed.
 */

/* The most responses of a script. */
#define SCRIPT_MAX 16

/* A response of one event stream with @events, lines of SSE. */
#define SCRIPT_STREAM(events)                                                                      \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" events

/* The status line @status with the body @body. */
#define SCRIPT_STATUS(status, fields, body)                                                        \
	"HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n" fields    \
	"\r\n" body

/* A response that begins so is not followed by the end of the connection. */
#define SCRIPT_HELD "(held)"

/* Begin to serve the texts at @responses, up to NULL. "" closes the connection without an answer.
 * Return the port. */
unsigned int script_start(const char *const *responses);

/* Send @text, of @size bytes, in place of the next response. */
void script_set_long(const char *text, size_t size);

/* Return how many requests have come. */
unsigned int script_n_requests(void);

/* Return the body of the request @i. */
const char *script_body(unsigned int i);

/* Return the head of the request @i. */
const char *script_head(unsigned int i);
