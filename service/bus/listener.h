/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"
#include "loop/loop.h"

/*
 * A listening TCP socket on the loop.
 *
 * We accept ourselves, and hand the connections to libwebsockets: so a port that cannot be used is
 * an errno, the number of connections is ours to bound, and running out of descriptors pauses
 * accepting instead of spinning the loop.
 */
struct listener;

/* A new connection: non-blocking, close-on-exec, the callee's. */
typedef void (*listener_function)(void *data, int fd);

/* Listen at @address; its port, if 0, becomes the one that was taken. 0 or a negative errno. */
int listener_new(struct loop *loop, struct bus_address *address, listener_function function,
	void *data, struct listener **ret_listener);

/* Takes NULL. */
void listener_free(struct listener *listener);

/* Accept no more, until listener_resume(). New connections wait in the kernel. */
void listener_pause(struct listener *listener);
void listener_resume(struct listener *listener);
