/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "util/list.h"

/*
 * The places for connections: so many in all, and so many of one address.
 *
 *   idle longest ─ … ─ idle since now      the order of the list
 *
 * A newcomer without a place takes that of a connection which is idle: of its own address, if that has all that one
 * address may have, else of any.
 */

/* The place of a connection, which embeds it. */
struct http_place {
	struct list link;
	const char *address; /* borrowed */
};

struct http_places {
	struct list list; /* the one that became idle longest ago comes first */
	unsigned int count;

	/* Close the connection with @place, if it is idle: it leaves. Return whether it was. */
	bool (*give_way)(struct http_place *place);
};

/* Make @places empty. */
void http_places_init(struct http_places *places, bool (*give_way)(struct http_place *place));

/* Return whether there is a place for a newcomer from @address, when there may be @max and @per_address; for
 * which an idle connection may give way. */
bool http_places_make(struct http_places *places, const char *address, unsigned int max,
	unsigned int per_address);

/* Let the connection with @place, whose address is set, enter. */
void http_places_enter(struct http_places *places, struct http_place *place);

/* Let it leave. */
void http_places_leave(struct http_places *places, struct http_place *place);

/* Move @place to the end: it is idle since now. */
void http_places_rest(struct http_places *places, struct http_place *place);

/* Close every connection that is idle. */
void http_places_close_idle(struct http_places *places);
