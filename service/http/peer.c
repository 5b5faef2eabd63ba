/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/process/ancestry.h"

/* Read who connected to a Unix socket. A tool runs as the user of this process and is no operator. */
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
}

void http_peer_read(int fd, struct http_peer *ret_peer)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name = {.v6 = {0}};
	socklen_t size = sizeof(name);
	char *address = ret_peer->address;

	*ret_peer = (struct http_peer){.address = "unknown"};
	if (getpeername(fd, &name.any, &size) < 0)
		return;
	if (name.any.sa_family == AF_INET)
		inet_ntop(AF_INET, &name.v4.sin_addr, address, INET6_ADDRSTRLEN);
	else if (name.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&name.v6.sin6_addr))
		inet_ntop(AF_INET, &name.v6.sin6_addr.s6_addr[12], address, INET6_ADDRSTRLEN);
	else if (name.any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &name.v6.sin6_addr, address, INET6_ADDRSTRLEN);
	else
		read_user(fd, ret_peer);
}
