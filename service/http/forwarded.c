/* SPDX-License-Identifier: Apache-2.0 */
#include "http/forwarded.h"

#include <string.h>
#include <strings.h>

#include "request/field.h"

/* Room for `[address]:port`. */
#define ELEMENT_BYTES (INET6_ADDRSTRLEN + sizeof("[]:65535"))

/* Read the element from @at to @end, an address with or without a port. Return whether the text is
 * an address. */
static bool read_element(const char *at, const char *end, struct in6_addr *ret_address)
{
	char text[ELEMENT_BYTES];
	char *start = text;
	char *colon;

	field_trim(&at, &end);
	if ((size_t)(end - at) >= sizeof(text))
		return false;
	memcpy(text, at, (size_t)(end - at));
	text[end - at] = '\0';
	if (*text == '[') {
		start = text + 1;
		start[strcspn(start, "]")] = '\0';
	} else {
		colon = strchr(text, ':');
		if (colon && !strchr(colon + 1, ':'))
			*colon = '\0';
	}
	return network_read_address(start, ret_address);
}

/* Go on with *@client, to the left of @value. Return whether more may follow. */
static bool read_forwarded_list(
	const struct config_http *http, const char *value, struct in6_addr *client)
{
	const char *end = value + strlen(value);

	while (end) {
		const char *comma = memrchr(value, ',', (size_t)(end - value));
		struct in6_addr next;

		if (!config_http_trusts(http, client) ||
			!read_element(comma ? comma + 1 : value, end, &next))
			return false;
		*client = next;
		end = comma;
	}
	return true;
}

static bool is_trusted(const struct config_http *http, const struct http_peer *peer)
{
	return http->n_proxies > 0 && !peer->is_unix && config_http_trusts(http, &peer->number);
}

void forwarded_read_client(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer, struct http_peer *ret_client)
{
	struct in6_addr client = peer->number;
	unsigned int at = request->n_fields;
	const char *value;

	if (!is_trusted(http, peer)) {
		*ret_client = *peer;
		return;
	}
	do
		value = http_field_before(request, "X-Forwarded-For", &at);
	while (value && read_forwarded_list(http, value, &client));
	http_peer_make(&client, ret_client);
}

const char *forwarded_host(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer)
{
	unsigned int count;
	const char *host = http_field(request, "X-Forwarded-Host", &count);

	if (!host || !is_trusted(http, peer))
		return NULL;
	return count == 1 && field_is_host(host) ? host : "";
}

bool forwarded_is_tls(const struct config_http *http, const struct http_reader *request,
	const struct http_peer *peer)
{
	unsigned int count;
	const char *scheme = http_field(request, "X-Forwarded-Proto", &count);

	return count == 1 && strcasecmp(scheme, "https") == 0 && is_trusted(http, peer);
}
