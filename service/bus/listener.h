/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"
#include "loop/loop.h"
#include "util/cleanup.h"

/*
 * A listening TCP or Unix socket on the loop.
 *
 * An unusable port is reported as an errno, and a shortage of descriptors pauses accepting instead
 * of spinning the loop.
 */
struct listener;

/* Take a new connection. @fd is non-blocking and close-on-exec; the callee owns it. */
typedef void (*listener_function)(void *data, int fd);

/* Listen at @address. If its port is 0, the actual port is stored there. Return 0 or a negative
 * errno. */
int listener_new(struct loop *loop, struct bus_address *address, listener_function function,
	void *data, struct listener **ret_listener);

/* Listen on the Unix socket @path, of mode 0660, for the user and the group of this process. A
 * socket without a listener is replaced; -EADDRINUSE when it has one. Return 0 or a negative
 * errno. */
int listener_new_unix(struct loop *loop, const char *path, listener_function function, void *data,
	struct listener **ret_listener);

/* Free @listener, which may be NULL. The file of its Unix socket is removed. */
void listener_free(struct listener *listener);

CLEANUP_DEFINE(listener, struct listener *, listener_free)
