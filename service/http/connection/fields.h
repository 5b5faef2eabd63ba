/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/account.h"
#include "http/connection/connection_state.h"
#include "http/connection/handler.h"
#include "http/connection/outgoing.h"
#include "http/connection/peer.h"
#include "http/connection/places.h"
#include "loop/loop.h"
#include "request/reader.h"
#include "tls/session.h"
#include "util/debt.h"
#include "util/log.h"

/*
 * The fields of a connection, and of the set, for the files of this folder:
 *
 *   connections   the set
 *   dispatch      an event of the socket, or the timer: what is due in this state
 *   handshake     TLS, until it is ready
 *   receive       bytes of a request
 *   stream        a response in parts
 *   respond       a response
 *   life          from one state to the next, to the end
 *
 * Each file uses those below it.
 */

/* Kinds of refusals: a flood of one must not hide the lines about another. */
enum refusal_kind {
	REFUSAL_MALFORMED,
	REFUSAL_LATE,
	REFUSAL_LARGE,
	REFUSAL_CROWDED,
	REFUSAL_TLS,
	REFUSAL_KINDS,
};

struct http_connections {
	struct loop *loop;
	struct bus *bus;
	struct http_bounds bounds;
	struct http_connection_handler handler;
	void *data;
	struct http_places places;
	unsigned int n_pending;
	bool is_stopping;
	struct log_rate refusals[REFUSAL_KINDS];
	struct debt handshakes;
	struct loop_timer alive; /* armed while there are streams */
};

struct http_connection {
	struct http_place place;
	struct http_connections *connections;
	int fd;
	struct tls_session *tls; /* or NULL */
	struct loop_source *source;
	uint32_t events; /* watched for by the source */
	struct loop_timer timer;
	enum connection_state state;
	struct http_reader reader;
	struct account *account;
	size_t held;   /* charged bytes of the body */
	size_t queued; /* charged bytes of the response */
	struct http_waiter waiter;
	void (*late)(
		struct http_connection *connection); /* goes on when the timer is due; or NULL */
	struct buffer fields;                        /* header lines for the next response */
	struct http_outgoing outgoing;
	size_t discarded;        /* bytes read while lingering */
	bool is_kept;            /* kept alive after the response */
	bool has_continued;      /* 100 Continue was sent */
	bool is_ended;           /* the stream has its end */
	bool is_pending;         /* counted in n_pending */
	struct http_peer peer;   /* the other end */
	struct http_peer client; /* the sender of the request */
};
