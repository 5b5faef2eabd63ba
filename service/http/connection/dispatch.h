/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "http/connection/fields.h"

/*
 * The next step of a connection whose socket, or timer, is due.
 *
 *   readable ─▶ IDLE, READING: receive · WAITING, STREAMING: a pipelined byte
 *                LINGERING: discard
 *   writable ─▶ WRITING, STREAMING: send on
 *   timer    ─▶ whatever was put off, or the end
 */

/* For the loop: @data is the connection. */
void connection_on_events(void *data, uint32_t events);
void connection_on_time(void *data);

/* Read what the socket has. */
void connection_read_on(struct http_connection *connection);
