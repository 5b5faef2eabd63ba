/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_FETCH_H
#define WEB_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <toolbox.h>

#include "address.h"
#include "text.h"

/*
 * One request for a page, over HTTP or HTTPS, without redirects.
 *
 *   name ─▶ addresses ─▶ judged at the socket, one by one ─▶ connection ─▶ TLS ─▶ body, counted
 *
 * An address is judged when its socket is made, so a name that resolves to another address a moment
 * later opens nothing. With a proxy, which resolves names itself, the name is resolved and judged
 * here before each request.
 */

/* The settings of an operator. */
struct fetch_settings {
	struct allow_list allow;
	const char *proxy; /* "": none */
	bool heeds_robots;
};

/* The parts of an URL that are asked for. */
struct fetch_url {
	char *whole; /* without a fragment */
	char *scheme;
	char *host;
	char *path; /* with the query */
	unsigned int port;
};

struct fetched {
	long status;
	char *type;     /* Content-Type, or NULL */
	char *redirect; /* the absolute URL of Location, or NULL */
	struct text body;
};

struct fetch {
	struct toolbox_call call;
	const struct fetch_settings *settings;
	uint64_t end_ms; /* of all requests, by now_ms() */
};

/* Return whether the time of @fetch, which it is, is over; with time left to answer the call. */
bool fetch_is_late(void *fetch);

/* Read @url. Return false with @why when it is no URL of a page. The caller frees in any case. */
bool fetch_url_read(const char *url, struct fetch_url *ret, struct text *why);
void fetch_url_free(struct fetch_url *url);

/* Get @url, with at most @bytes_max of body, until @end_ms at the latest. Return false with @why.
 * The caller deinits @ret, zeroed before, in any case. */
bool fetch_get(const struct fetch *fetch, const struct fetch_url *url, size_t bytes_max,
	uint64_t end_ms, struct fetched *ret, struct text *why);
void fetched_deinit(struct fetched *fetched);

#endif
