/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "http/connection/fields.h"

/*
 * The life of a connection, from state to state (drawn in http/connection/connection.h): it awaits
 * a request, is kept alive or lingers after the response, and ends.
 */

/* Change the state, only here. */
void connection_move(struct http_connection *connection, enum connection_state to);

/* Watch for @events, and no others. */
void connection_watch(struct http_connection *connection, uint32_t events);

/* Note whether there is an unsent response. */
void connection_set_pending(struct http_connection *connection, bool is_pending);

/* Take back the charge of what was sent. */
void connection_charge_sent(struct http_connection *connection);

/* Wait for the first byte of a request, for @wait_ms. */
void connection_await(struct http_connection *connection, uint64_t wait_ms);

/* Go on after the response: to the next request, or to the end. */
void connection_end_response(struct http_connection *connection);

/* Free @connection in the next turn of the loop: its callers may look at it until then. */
void connection_doom(struct http_connection *connection);

/* Free @connection, after a call of the waiter for its answer. */
void connection_free(struct http_connection *connection);
