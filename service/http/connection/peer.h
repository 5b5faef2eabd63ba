/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "util/network.h"

/* The other end of a connection; or the client of the proxy there, on no Unix socket. */
struct http_peer {
	char address
		[INET6_ADDRSTRLEN]; /* without its port: `127.0.0.1`; of a Unix socket `uid:1000` */
	char holder[NETWORK_BYTES]; /* its network by network_write_holder(), or `uid:1000` */
	struct in6_addr number;     /* the address; zeros: none */
	bool is_unix;
	/* root or the user of this process, on a Unix socket, and no tool of ours */
	bool is_operator;
};

/* Return the network whose connections count together: the holder, but each address of the loopback
 * by itself, since programs of this device differ only by tokens. */
const char *http_peer_place(const struct http_peer *peer);

/* Read the other end of the connection @fd; its address is "unknown" if it is gone already. */
void http_peer_read(int fd, struct http_peer *ret_peer);

/* Make @ret_peer the client at @address. */
void http_peer_make(const struct in6_addr *address, struct http_peer *ret_peer);
