/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/service.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * The HTTP door: the tools over HTTP/1.1 (contract.md, HTTP).
 *
 *   listener ─▶ connection ─▶ Host, Origin ─▶ token ─▶ route ─▶ body, type
 *            ─▶ handler ─▶ exchange ─▶ service
 *
 * It is the other door of the service (core/request/door.h). It runs on the one loop.
 */
struct http_door;

/* Listen at the addresses of `http.listen` for @service. A failure is logged. Return 0 or a
 * negative errno, such as -EADDRINUSE. */
int http_door_new(struct loop *loop, struct service *service, struct http_door **ret_door);

/* Close all connections and free @door, before its service. Takes NULL. */
void http_door_free(struct http_door *door);

CLEANUP_DEFINE(http_door, struct http_door *, http_door_free)
