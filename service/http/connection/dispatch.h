/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "http/connection/fields.h"

/*
 * The next step of a connection with a due socket or timer.
 *
 *   readable ─▶ IDLE, READING: receive · WAITING, STREAMING: a pipelined byte
 *                LINGERING: discard
 *   writable ─▶ WRITING, STREAMING: send on
 *   timer    ─▶ the postponed step, or the end
 */

/* For the loop: @data is the connection. */
void connection_on_events(void *data, uint32_t events);
void connection_on_time(void *data);

/* Read what the socket has. */
void connection_read_on(struct http_connection *connection);
