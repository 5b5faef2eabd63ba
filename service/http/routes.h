/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/metrics/exposition.h"
#include "http/connection/bytes.h"
#include "http/documents.h"
#include "http/exchange.h"

/*
 * The routes: which handler serves a method and a path (contract.md, HTTP).
 *
 *   GET /v1/tools/add ──▶ table ──▶ known path? ── no ──▶ 404
 *                                      │ the method, too? ── no ──▶ 405 with Allow
 *                                      ▼
 *                                   access ── no token: 401, not an admin: 403
 *                                      ▼
 *                                   handler
 */

/* The callers that a route is for. */
enum route_access {
	ROUTE_OPEN,    /* everybody */
	ROUTE_CALLER,  /* with a token, where there are any */
	ROUTE_METRICS, /* an admin, where there are tokens */
	ROUTE_ADMIN,
};

struct event_streams;
struct mcp_endpoint;

struct routes {
	struct service *service; /* borrowed */
	struct documents documents;
	struct mcp_endpoint *mcp;     /* borrowed */
	struct event_streams *events; /* borrowed */
	struct exposed {
		struct http_bytes *bytes; /* or NULL */
		uint64_t made_ms;
	} metrics[EXPOSITION_FORMATS];
};

/* Make the routes of @service without any documents yet; @mcp and @events serve theirs. All are
 * borrowed. */
void routes_init(struct routes *routes, struct service *service, struct mcp_endpoint *mcp,
	struct event_streams *events);

void routes_deinit(struct routes *routes);

struct route {
	const char *method;
	const char *path; /* `{}`: any one segment */
	enum route_access access;
	/* NULL: @topic is requested, with the members below. */
	void (*serve)(struct routes *routes, const struct http_request *request);
	const char *topic;
	const char *segment;    /* the member that the segment of the path is; NULL: none */
	const char *texts[6];   /* the members in the query, NULL-terminated */
	const char *numbers[3]; /* the same for numbers */
};

/* Find the route of the method @method with @request's target, and set its segment. Return NULL
 * after the response 404, 405, or that to OPTIONS. */
const struct route *routes_find(const char *method, struct http_request *request);

/* Serve @request, which the caller has let pass, by @route. */
void routes_serve(
	struct routes *routes, const struct route *route, const struct http_request *request);
