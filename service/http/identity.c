/* SPDX-License-Identifier: Apache-2.0 */
#include "http/identity.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOST_BYTES 64

/* Split @text, `host`, `host:port` or `[address]:port`: copy the host, without brackets. Return the text of the
 * port, "" for none, or NULL when @text has another form. */
static const char *split_host(const char *text, char ret_host[HOST_BYTES])
{
	bool has_brackets = *text == '[';
	const char *start = text + has_brackets;
	size_t size = strcspn(start, has_brackets ? "]" : ":");
	const char *rest = start + size;

	if (size == 0 || size >= HOST_BYTES || (has_brackets && *rest++ != ']'))
		return NULL;
	memcpy(ret_host, start, size);
	ret_host[size] = '\0';
	if (*rest == '\0')
		return rest;
	return *rest == ':' && rest[1] ? rest + 1 : NULL;
}

static bool is_local(const char *host)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool identity_host_is_local(const char *host)
{
	char name[HOST_BYTES];

	return split_host(host, name) && is_local(name);
}

bool identity_origin_is_ours(const char *origin, uint16_t port)
{
	static const char scheme[] = "http://";
	char name[HOST_BYTES];
	char expected[8];
	const char *found;

	if (strncmp(origin, scheme, sizeof(scheme) - 1) != 0)
		return false;
	found = split_host(origin + sizeof(scheme) - 1, name);
	snprintf(expected, sizeof(expected), "%u", port);
	/* Without its port an origin means that of the scheme (RFC 6454 §4). */
	return found && is_local(name) && strcmp(*found ? found : "80", expected) == 0;
}
