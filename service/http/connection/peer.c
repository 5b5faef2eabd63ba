/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/peer.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/process/ancestry.h"

/* Read who connected to a Unix socket. A tool runs as the user of this process and is no
 * operator. */
static void read_user(int fd, struct http_peer *ret_peer)
{
	struct ucred user = {.uid = (uid_t)-1};
	socklen_t size = sizeof(user);

	ret_peer->is_unix = true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) < 0)
		user.uid = (uid_t)-1;
	else
		ret_peer->is_operator =
			(user.uid == 0 || user.uid == geteuid()) && ancestry_is_ours(user.pid) == 0;
	snprintf(ret_peer->address, sizeof(ret_peer->address), "uid:%u", user.uid);
	memcpy(ret_peer->holder, ret_peer->address, sizeof(ret_peer->address));
}

void http_peer_make(const struct in6_addr *address, struct http_peer *ret_peer)
{
	*ret_peer = (struct http_peer){.number = *address};
	network_write_address(address, ret_peer->address);
	network_write_holder(address, ret_peer->holder);
}

const char *http_peer_place(const struct http_peer *peer)
{
	return !peer->is_unix && network_is_local(&peer->number) ? peer->address : peer->holder;
}

void http_peer_read(int fd, struct http_peer *ret_peer)
{
	struct sockaddr name = {0};
	socklen_t size = sizeof(name);
	struct in6_addr address;

	*ret_peer = (struct http_peer){.address = "unknown", .holder = "unknown"};
	if (network_read_peer(fd, &address))
		http_peer_make(&address, ret_peer);
	else if (getsockname(fd, &name, &size) == 0 && name.sa_family == AF_UNIX)
		read_user(fd, ret_peer);
}
