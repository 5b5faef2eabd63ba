/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"
#include "core/service.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * The HTTP door: the tools over HTTP/1.1 (contract.md, HTTP).
 *
 *   listener ─▶ connection ─▶ Host, Origin ─▶ route ─▶ body, type ─▶ handler ─▶ exchange ─▶ service
 *
 * It is the other door of the service (core/door.h). It runs on the one loop.
 */
struct http_door;

/* contract.md, Fixed limits. */
#define HTTP_CONNECTIONS   256
#define HTTP_PER_ADDRESS   64
#define HTTP_HEADER_BYTES  16384
#define HTTP_BODY_BYTES    65536
#define HTTP_FIRST_BYTE_MS 10000
#define HTTP_REQUEST_MS    30000
#define HTTP_IDLE_MS       75000

/* Listen at @address, which is of this device, for @service. The port that was taken is stored there. Return 0
 * or a negative errno, such as -EADDRINUSE. */
int http_door_new(struct loop *loop, struct service *service, struct bus_address *address,
	struct http_door **ret_door);

/* Close all connections and free @door, before its service. Takes NULL. */
void http_door_free(struct http_door *door);

CLEANUP_DEFINE(http_door, struct http_door *, http_door_free)
