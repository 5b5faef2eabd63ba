/* SPDX-License-Identifier: Apache-2.0 */
#include "util/network.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "util/text/text.h"

#define ALL_BITS    128
#define MAPPED_BITS 96 /* before the bits of an IPv4 address */
#define HOLDER_BITS 64 /* the network of a customer, or of a link (RFC 4291 §2.5.4) */

union name {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static void map_v4(const struct in_addr *v4, struct in6_addr *ret_address)
{
	*ret_address = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
	memcpy(&ret_address->s6_addr[12], v4, sizeof(*v4));
}

bool network_read_address(const char *text, struct in6_addr *ret_address)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) != 1)
		return inet_pton(AF_INET6, text, ret_address) == 1;
	map_v4(&v4, ret_address);
	return true;
}

/* Read the name of the other end of @fd; of the family AF_UNSPEC when it is gone. */
static union name read_name(int fd)
{
	union name name = {.v6 = {0}};
	socklen_t size = sizeof(name);

	if (getpeername(fd, &name.any, &size) < 0)
		name.any.sa_family = AF_UNSPEC;
	return name;
}

bool network_read_peer(int fd, struct in6_addr *ret_address)
{
	union name name = read_name(fd);

	switch (name.any.sa_family) {
	case AF_INET:
		map_v4(&name.v4.sin_addr, ret_address);
		return true;
	case AF_INET6:
		*ret_address = name.v6.sin6_addr;
		return true;
	default:
		return false;
	}
}

void network_write_address(const struct in6_addr *address, char ret_text[INET6_ADDRSTRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(address))
		inet_ntop(AF_INET, &address->s6_addr[12], ret_text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, address, ret_text, INET6_ADDRSTRLEN);
}

/* Read the digits of @text, at most @max. Return whether there is nothing else. */
static bool read_bits(const char *text, unsigned int max, unsigned int *ret_bits)
{
	unsigned int bits = 0;

	if (!*text)
		return false;
	for (; text_is_digit(*text) && bits <= max; text++)
		bits = bits * 10 + (unsigned int)(*text - '0');
	*ret_bits = bits;
	return !*text && bits <= max;
}

bool network_read(const char *text, struct network *ret_network)
{
	size_t size = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];
	unsigned int before;
	unsigned int bits;

	if (size >= sizeof(address))
		return false;
	memcpy(address, text, size);
	address[size] = '\0';
	if (!network_read_address(address, &ret_network->address))
		return false;
	before = strchr(address, ':') ? 0 : MAPPED_BITS;
	bits = ALL_BITS - before;
	if (text[size] && !read_bits(text + size + 1, bits, &bits))
		return false;
	ret_network->bits = before + bits;
	return true;
}

bool network_has(const struct network *network, const struct in6_addr *address)
{
	unsigned int bytes = network->bits / 8;
	unsigned int rest = network->bits % 8;
	unsigned int mask = 0xffu << (8 - rest) & 0xffu;

	if (memcmp(&network->address, address, bytes) != 0)
		return false;
	return rest == 0 ||
	       ((network->address.s6_addr[bytes] ^ address->s6_addr[bytes]) & mask) == 0;
}

bool network_is_local(const struct in6_addr *address)
{
	static const struct network local = {
		{.s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127}}, MAPPED_BITS + 8};

	return network_has(&local, address) || IN6_IS_ADDR_LOOPBACK(address);
}

bool network_peer_is_local(int fd)
{
	struct in6_addr address;

	return network_read_peer(fd, &address) ? network_is_local(&address)
					       : read_name(fd).any.sa_family == AF_UNIX;
}

void network_write_holder(const struct in6_addr *address, char ret_text[NETWORK_BYTES])
{
	struct in6_addr prefix = {0};

	if (network_is_local(address)) {
		snprintf(ret_text, NETWORK_BYTES, "127.0.0.0/8");
	} else if (IN6_IS_ADDR_V4MAPPED(address)) {
		network_write_address(address, ret_text);
	} else {
		memcpy(&prefix, address, HOLDER_BITS / 8);
		network_write_address(&prefix, ret_text);
		snprintf(ret_text + strlen(ret_text), sizeof("/64"), "/%d", HOLDER_BITS);
	}
}
