/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/http_tokens.h"
#include "util/list.h"

/*
 * The places for connections: so many in all, and so many of one holder. The holder is the peer
 * (http_peer_place()), until a request shows a token.
 *
 *   quiet longest ─ … ─ quiet since now      the order of the list
 *
 * A connection is quiet while the next move is the peer's: it is idle, or in the middle of its
 * request. A newcomer without a place takes the place of the connection quiet longest: of its own
 * holder, if the holder has its full share, else of any. When no connection is quiet, the newcomer
 * gets a spare place, only to show its identity: PLACES_SPARE more connections are read, and served
 * if the door lets them pass. So a holder that fills the places shuts out no administrator, no user
 * of the Unix socket and no check of health.
 */

#define PLACES_SPARE 64

/* The spare places of one holder while its requests are served. */
#define PLACES_SPARE_SHARE 32

/* The place of a connection, embedded there. */
struct http_place {
	struct list link;
	char holder[HTTP_TOKEN_NAME_CHARS + sizeof("http:")];
	bool is_spare;
};

struct http_places {
	struct list list;   /* the connection quiet longest comes first */
	unsigned int count; /* without spare ones */
	unsigned int n_spare;
	unsigned int max;
	unsigned int per_holder;

	/* Close the connection with @place, if it is quiet: it leaves. Return whether it was. */
	bool (*give_way)(struct http_place *place);
};

/* Make @places empty. */
void http_places_init(struct http_places *places, bool (*give_way)(struct http_place *place));

/* Let the connection with @place, zeroed, of the peer @holder enter, for which a quiet connection
 * may give way. Return false, with nothing done, when there is no spare place either. */
bool http_places_enter(struct http_places *places, struct http_place *place, const char *holder);

/* Note that the connection with @place, which is not quiet, belongs to @holder. Return whether the
 * connection has an ordinary place: it takes a free place, or a place given up by a quiet
 * connection. */
bool http_places_claim(struct http_places *places, struct http_place *place, const char *holder);

/* Return whether @holder has no more than its share of the spare places. */
bool http_places_may_spare(const struct http_places *places, const char *holder);

/* Let it leave. */
void http_places_leave(struct http_places *places, struct http_place *place);

/* Move @place to the end: it is quiet since now. */
void http_places_rest(struct http_places *places, struct http_place *place);
