/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "loop/loop.h"

/*
 * Resolve the host of a URL to addresses without blocking the loop.
 *
 * The resolver of the C library blocks. An address and "localhost" need no name service. Any other
 * name is looked up by a thread of its own, which ends with the lookup.
 */

#define BUS_ADDRESSES_MAX 8

struct bus_addresses {
	char texts[BUS_ADDRESSES_MAX][INET6_ADDRSTRLEN + 1 + IF_NAMESIZE];
	unsigned int count;
};

/* Return whether @host needs no name service. If so, write its addresses to @ret_addresses. */
bool bus_resolve_at_once(const char *host, struct bus_addresses *ret_addresses);

struct bus_lookup;

/* Take the result of a lookup, which is freed already. @addresses is NULL without addresses;
 * @reason is the cause. */
typedef void (*bus_lookup_function)(
	void *data, const struct bus_addresses *addresses, const char *reason);

/* Look @host up in the background. Return 0 or a negative errno. */
int bus_lookup_begin(struct loop *loop, const char *host, bus_lookup_function function, void *data,
	struct bus_lookup **ret_lookup);

/* Cancel @lookup, which may be NULL. The callback is not called afterwards. */
void bus_lookup_cancel(struct bus_lookup *lookup);
