/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "http/exchange.h"
#include "http/streams.h"
#include "util/list.h"

/*
 * The events of the service, as server-sent events of GET /v1/events (contract.md, HTTP).
 *
 *   everybody          changed, with {} as its data: the names of tools may be hidden from them
 *   an administrator   changed, call.*, approval.*, with the data that the bus has
 *
 * A reader EVENTS_LAG events late loses the next ones; `lost` has their number when it has caught
 * up. While an administrator reads, events of calls are broadcast on the bus, too.
 */
#define EVENTS_LAG 256

struct event_streams {
	struct streams *streams; /* borrowed */
	struct service *service; /* borrowed */
	struct list list;
	size_t n_admins;
};

void event_streams_init(
	struct event_streams *events, struct streams *streams, struct service *service);

/* Respond to @request with a stream. */
void event_streams_open(struct event_streams *events, const struct http_request *request);

/* Send an announcement of the service to every permitted reader. */
void event_streams_hear(
	struct event_streams *events, const char *topic, const char *text, size_t size);
