/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "loop/loop.h"

/*
 * From the host of a URL to addresses, without keeping the loop.
 *
 * libwebsockets would ask the name service in the middle of the loop, and 4.1.6 as Debian builds it
 * has no other way. So it is only ever given addresses. An address, and "localhost", need no name
 * service; any other name is looked up by a thread of its own, which lives as long as that takes.
 */

#define BUS_ADDRESSES_MAX 8

struct bus_addresses {
	char texts[BUS_ADDRESSES_MAX][INET6_ADDRSTRLEN + 1 + IF_NAMESIZE];
	unsigned int count;
};

/* Whether @host needs no name service; then its addresses are in @ret_addresses. */
bool bus_resolve_at_once(const char *host, struct bus_addresses *ret_addresses);

struct bus_lookup;

/* @addresses is NULL when the name has none, @why then tells. The lookup is freed before. */
typedef void (*bus_lookup_function)(
	void *data, const struct bus_addresses *addresses, const char *reason);

/* Look @host up in the background. 0 or a negative errno. */
int bus_lookup_begin(struct loop *loop, const char *host, bus_lookup_function function, void *data,
	struct bus_lookup **ret_lookup);

/* No callback comes afterwards. Takes NULL. */
void bus_lookup_cancel(struct bus_lookup *lookup);
