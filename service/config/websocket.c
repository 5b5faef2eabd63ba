/* SPDX-License-Identifier: Apache-2.0 */
#include "config/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "util/array.h"

/* Parse the URL made of these texts. */
static bool parse_url(
	const char *before, const char *part, const char *after, struct bus_address *ret_address)
{
	char url[BUS_URL_BYTES];
	int size = snprintf(url, sizeof(url), "%s%s%s", before, part, after);

	return size > 0 && (size_t)size < sizeof(url) &&
	       bus_address_parse(url, ret_address, NULL) == 0;
}

/* A URL made of a host has exactly this host and its port. */
static void read_host(
	struct config_reader *reader, uint32_t value, const char *host, struct bus_address *bus)
{
	bool is_ipv6 = strchr(host, ':') != NULL;
	struct bus_address address;

	if (parse_url(is_ipv6 ? "ws://[" : "ws://", host, is_ipv6 ? "]:1/" : ":1/", &address) &&
		strcmp(address.host, host) == 0 && address.port == 1)
		memcpy(bus->host, address.host, sizeof(address.host));
	else
		config_reader_wrong(reader, value, "must be the name or address of a host");
}

static void read_route(
	struct config_reader *reader, uint32_t value, const char *route, struct bus_address *bus)
{
	struct bus_address address;

	if (*route == '/' && parse_url("ws://h:1", route, "", &address) &&
		strcmp(address.path, route) == 0)
		memcpy(bus->path, address.path, sizeof(address.path));
	else
		config_reader_wrong(reader, value, "must be a path that begins with '/'");
}

/* The members of the section. */
struct websocket {
	char *host;
	char *route;
	uint32_t port;
	bool is_tls;
};

#define FIELDS_OF struct websocket
static const struct config_field websocket_fields[] = {
	CONFIG_TEXT("host", host),
	CONFIG_TEXT("route", route),
	CONFIG_NUMBER("port", port, 0),
	CONFIG_FLAG("ssl", is_tls, false),
};
#undef FIELDS_OF

void config_websocket_read(
	struct config_reader *reader, uint32_t section, struct bus_address *ret_bus)
{
	const struct json_tape *tape = &reader->tape;
	struct websocket given = {0};

	*ret_bus = bus_address_default;
	if (config_fields_read(
		    tape, section, websocket_fields, ARRAY_SIZE(websocket_fields), &given) < 0)
		reader->error = -ENOMEM;
	if (given.host && *given.host)
		read_host(reader, json_find(tape, section, "host"), given.host, ret_bus);
	if (given.route && *given.route)
		read_route(reader, json_find(tape, section, "route"), given.route, ret_bus);
	if (given.port > 0)
		ret_bus->port = (uint16_t)given.port;
	ret_bus->is_tls = given.is_tls;
	config_fields_deinit(websocket_fields, ARRAY_SIZE(websocket_fields), &given);
}
