/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Who may become a client of the embedded bus.
 *
 * No password protects the bus of a device, and no browser asks a server before a page opens a
 * websocket to it: any page that is open on the device, or in its network where the bus listens
 * there, could call every tool. Two headers that a page cannot choose tell it from a client:
 *
 *   Origin   where the page comes from (RFC 6455 §10.2): it has to be one of those that are
 * allowed. Clients that are no browser send none, or what they connect to, as websocket-client for
 * Python does, which ovos-bus-client is made of: that is let in, since nobody can have a page from
 * there. We serve none. Host     the name that the client took for ours: a page whose own name was
 * made to lead to this device (DNS rebinding) sends its own
 */
struct admission {
	char **origins; /* owned: scheme://host[:port], as browsers write them */
	size_t n_origins;
	const char *name; /* borrowed: the host that the bus was configured with */
};

enum admission_result {
	ADMISSION_GRANTED,
	ADMISSION_ORIGIN, /* refused: the Origin is not allowed */
	ADMISSION_HOST,   /* refused: the Host is not ours */
};

/* Copy the @n_origins texts at @origins; @name is borrowed. 0 or -ENOMEM. */
int admission_init(struct admission *admission, const char *const *origins, size_t n_origins,
	const char *name);

/* Takes a zeroed one. */
void admission_deinit(struct admission *admission);

/* Judge a request by its headers' values; @origin is NULL where there is none. A @host is ours when
 * it is an address, `localhost`, or the configured name, each with or without a port. */
enum admission_result admission_check(
	const struct admission *admission, const char *host, const char *origin);
