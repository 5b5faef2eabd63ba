/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_ADDRESS_H
#define WEB_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "text.h"

/*
 * Which addresses a page may come from: public ones, and the exceptions of an operator.
 *
 *   toolboxes.web.allow   ADDRESS   CIDR   HOST, each with an optional :PORT
 *                         192.168.1.10:8080   10.0.0.0/8   [fd00::/8]:443   wiki.lan
 *
 * A HOST opens every address of that name, and no other name of the address. An address of version
 * 4 inside an address of version 6 (mapped, NAT64, 6to4) counts as well.
 */

struct allow_entry;

/* A zeroed list allows no exception. */
struct allow_list {
	struct allow_entry *entries;
	size_t n;
};

/* Return the kind of an address that is not public, as "loopback"; NULL: it is public. A family
 * other than IPv4 and IPv6 is "unknown". */
const char *address_kind(const struct sockaddr *address);

/* Append @address as text. */
void address_write(const struct sockaddr *address, struct text *out);

/* Add the exception @entry. Return false with @why when it is none, or without memory. */
bool allow_add(struct allow_list *list, const char *entry, struct text *why);

/* Return whether @list has an exception for @address, which @host resolves to, at @port. */
bool allow_has(const struct allow_list *list, const char *host, unsigned int port,
	const struct sockaddr *address);

void allow_deinit(struct allow_list *list);

#endif
