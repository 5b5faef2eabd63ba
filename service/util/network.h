/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

/*
 * Addresses of the internet, IPv4 and IPv6 alike: an IPv4 address is kept as ::ffff:a.b.c.d (RFC
 * 4291 §2.5.5.2).
 *
 *   10.0.0.0/8   ::ffff:10.0.0.0 and 104 bits
 *   fd00::/8     fd00:: and 8 bits
 */
struct network {
	struct in6_addr address;
	unsigned int bits; /* 128 at most */
};

/* Room for the text of a network. */
#define NETWORK_BYTES (INET6_ADDRSTRLEN + sizeof("/128"))

/* Read the address of the other end of the connection @fd. Return false without an address: the
 * connection is a Unix socket, or the end is gone. */
bool network_read_peer(int fd, struct in6_addr *ret_address);

/* Read @text, an address without brackets or a port. Return whether @text is an address. */
bool network_read_address(const char *text, struct in6_addr *ret_address);

/* Write @address: `127.0.0.1`, `::1`. */
void network_write_address(const struct in6_addr *address, char ret_text[INET6_ADDRSTRLEN]);

/* Read @text, ADDRESS or ADDRESS/BITS. Return whether it is a network. */
bool network_read(const char *text, struct network *ret_network);

/* Return whether @address is in @network. */
bool network_has(const struct network *network, const struct in6_addr *address);

/* Return whether @address is a loopback address. */
bool network_is_local(const struct in6_addr *address);

/* Return whether the other end of the connection @fd is on this device: at an address of the
 * loopback, or on a Unix socket. */
bool network_peer_is_local(int fd);

/* Write the network of one holder around @address, the addresses of the holder's choice:
 * 127.0.0.0/8 (also of ::1), the /64 of an IPv6 address, else @address itself. */
void network_write_holder(const struct in6_addr *address, char ret_text[NETWORK_BYTES]);
