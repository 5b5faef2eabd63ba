/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/text/text.h"

_Static_assert(BUS_PATH_BYTES - 1 == 255, "as the mistake has it");

/*
 * URLs of a bus:  ws[s]://HOST[:PORT][/PATH]
 *
 * Only characters allowed in the first lines of an HTTP request pass: the host and the path are
 * sent to the bus unchanged.
 */

const struct bus_address bus_address_default = {
	.host = BUS_DEFAULT_HOST,
	.port = BUS_DEFAULT_PORT,
	.path = BUS_DEFAULT_PATH,
};

static bool is_name_character(char c)
{
	return text_is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
}

static bool is_host(const char *host, bool is_bracketed)
{
	struct in6_addr address;

	if (is_bracketed)
		return inet_pton(AF_INET6, host, &address) == 1;
	for (const char *at = host; *at; at++)
		if (!is_name_character(*at))
			return false;
	return host[0] != '\0';
}

static const char *parse_scheme(const char *at, struct bus_address *address)
{
	if (strncasecmp(at, "wss://", 6) == 0) {
		address->is_tls = true;
		return at + 6;
	}
	return strncasecmp(at, "ws://", 5) == 0 ? at + 5 : NULL;
}

/* Return the text after the host, or NULL. */
static const char *parse_host(const char *at, struct bus_address *address)
{
	bool is_bracketed = *at == '[';
	size_t length;

	if (is_bracketed)
		at++;
	length = strcspn(at, is_bracketed ? "]" : ":/?#");
	if (length >= BUS_HOST_BYTES)
		return NULL;
	memcpy(address->host, at, length);
	address->host[length] = '\0';
	if (!is_host(address->host, is_bracketed))
		return NULL;
	at += length;
	if (!is_bracketed)
		return at;
	return *at == ']' ? at + 1 : NULL;
}

static const char *parse_port(const char *at, struct bus_address *address)
{
	unsigned int port = 0;
	const char *digit;

	if (*at != ':')
		return at;
	for (digit = at + 1; *digit >= '0' && *digit <= '9'; digit++) {
		port = port * 10 + (unsigned int)(*digit - '0');
		if (port > UINT16_MAX)
			return NULL;
	}
	if (digit == at + 1)
		return NULL;
	address->port = (uint16_t)port;
	return digit;
}

static bool parse_path(const char *at, struct bus_address *address)
{
	size_t length = strlen(at);

	if (length == 0)
		return true;
	if (*at != '/' || length >= BUS_PATH_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		if (at[i] <= ' ' || at[i] > '~' || at[i] == '#')
			return false;
	memcpy(address->path, at, length + 1);
	return true;
}

/* Return the mistake of @url, or NULL. */
static const char *parse(const char *url, struct bus_address *address)
{
	const char *at = parse_scheme(url, address);

	if (!at)
		return "expected a URL that begins with ws:// or wss://";
	at = parse_host(at, address);
	if (!at)
		return "expected a host: a name, an IPv4 address, or an IPv6 address in brackets";
	at = parse_port(at, address);
	if (!at)
		return "expected a port from 0 to 65535 after the ':'";
	if (!parse_path(at, address))
		return "expected a path that begins with '/', of at most 255 printable ASCII "
		       "characters without space and '#'";
	return NULL;
}

int bus_address_parse(const char *url, struct bus_address *ret_address, const char **ret_reason)
{
	struct bus_address address = bus_address_default;
	const char *reason = parse(url, &address);

	if (!reason) {
		*ret_address = address;
		return 0;
	}
	if (ret_reason)
		*ret_reason = reason;
	return -EINVAL;
}

/* ── for people ──────────────────────────────────────────────────────────────────────────────── */

/* A shorter secret is no secret, and may be a part of any word. */
#define SECRET_BYTES_MIN 4

void bus_address_format(const struct bus_address *address, char ret_url[BUS_URL_BYTES])
{
	bool is_bracketed = strchr(address->host, ':') != NULL;
	int length = snprintf(ret_url, BUS_URL_BYTES, "%s://%s%s%s:%u",
		address->is_tls ? "wss" : "ws", is_bracketed ? "[" : "", address->host,
		is_bracketed ? "]" : "", address->port);

	text_mask_url(address->path, ret_url + length);
}

/* Replace the @size bytes at @secret wherever they are in @text. */
static void mask_secret(char *text, const char *secret, size_t size)
{
	char *found;

	if (size < SECRET_BYTES_MIN)
		return;
	while ((found = memmem(text, strlen(text), secret, size))) {
		memmove(found + strlen(TEXT_MASK), found + size, strlen(found + size) + 1);
		memcpy(found, TEXT_MASK, strlen(TEXT_MASK));
		text = found + strlen(TEXT_MASK);
	}
}

void bus_address_mask(const struct bus_address *address, char *text)
{
	const char *at = strchr(address->path, '?');
	size_t size;

	mask_secret(text, address->token, strlen(address->token));
	while (at && (at = text_next_value(at, &size))) {
		mask_secret(text, at, size);
		at += size;
	}
}
