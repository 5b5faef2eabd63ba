/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "request/reader.h"

/* The parts given by the users of connections: bounds, a handler of requests, and waiters for
 * answers. */
struct http_connection;

/* The limits of `http.limits` (contract.md, Limits). */
struct http_bounds {
	struct http_limits request;
	unsigned int connections;
	unsigned int per_holder;
	uint64_t first_byte_ms;
	uint64_t request_ms; /* a whole request, from its first byte */
	uint64_t idle_ms;
};

struct http_connection_handler {
	/* Take a complete request. Respond at once, or call http_wait(). */
	void (*request)(void *data, struct http_connection *connection);
};

/* A waiter for the answer to a request. */
struct http_waiter {
	/* The peer of the connection is gone: forget the connection. */
	void (*gone)(void *data);
	void *data;
};
