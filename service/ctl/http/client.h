/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "ctl/http/address.h"
#include "ctl/http/route.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * A client of a service over HTTP: requests by libcurl, on the loop.
 *
 *   http_client_send ─▶ transfer ──sockets, timer──▶ loop ─▶ libcurl ─▶ events ─▶ http_outcome
 *                          │
 *                          └─ http_transfer_free: the connection closes, which cancels a call
 *
 * Connections are kept for the next request. No proxy is used, no redirection followed, and
 * certificates are checked: by the system's certificates, or by SSL_CERT_FILE and SSL_CERT_DIR.
 */
struct http_client;
struct http_transfer;

/* The end of a transfer. */
struct http_outcome {
	const char *failure; /* the reason of a missing response, for a person; NULL: there is a
	                      * response */
	bool is_lost;        /* the request may have been received */
	long status;
	const char *type; /* the media type of the body, or NULL */
	struct text_view body;
};

struct http_handler {
	/* Take the end, once. The transfer may be freed then, and its outcome with it. */
	void (*outcome)(void *data, const struct http_outcome *outcome);

	/* Take an event of a stream, of the type @type; NULL: the stream begins. NULL: no stream is
	 * wanted. The events `result` and `error` are the body of the outcome instead. */
	void (*event)(void *data, const char *type, const char *text, size_t size);
};

/* Create a client of the service at @address (copied). Return 0, or CTL_USAGE or CTL_NO_BUS after a
 * complaint. */
int http_client_new(
	struct loop *loop, const struct http_address *address, struct http_client **ret_client);

/* Free @client, which may be NULL, after its transfers. */
void http_client_free(struct http_client *client);

/* Return the URL of the service for a person. */
const char *http_client_url(const struct http_client *client);

/* Send @request, whose body lives as long as the transfer; @handler gets @data. Return NULL without
 * memory. */
struct http_transfer *http_client_send(struct http_client *client,
	const struct route_request *request, const struct http_handler *handler, void *data);

/* Return whether the connection is made: the service has to answer. */
bool http_transfer_is_connected(const struct http_transfer *transfer);

/* End the transfer, and its connection if there is no outcome yet. Takes NULL. */
void http_transfer_free(struct http_transfer *transfer);

CLEANUP_DEFINE(http_client, struct http_client *, http_client_free)
