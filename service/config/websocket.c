/* SPDX-License-Identifier: Apache-2.0 */
#include "config/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/number.h"
#include "util/cleanup.h"

static void report_wrong(
	struct config_reader *reader, uint32_t value, const char *expected, const char *fallback)
{
	char consequence[64];

	snprintf(consequence, sizeof(consequence), "%s is used", fallback);
	config_reader_report_wrong(reader, DIAGNOSTIC_ERROR, value, expected, consequence);
}

/* Return the string member @key, which the caller frees; NULL when it is absent, or is no string,
 * which is reported. */
static char *read_setting_text(struct config_reader *reader, uint32_t websocket, const char *key,
	const char *expected, const char *fallback, uint32_t *ret_value)
{
	uint32_t value = config_reader_find(reader, websocket, key);

	*ret_value = value;
	if (value == JSON_NONE)
		return NULL;
	if (json_type_at(&reader->tape, value) != JSON_STRING) {
		report_wrong(reader, value, expected, fallback);
		return NULL;
	}
	return config_reader_string(reader, value);
}

/* Return whether @host is valid: a URL made from it has exactly this host, and keeps the port. */
static bool is_host(const char *host, struct bus_address *ret_address)
{
	bool is_ipv6 = strchr(host, ':') != NULL;
	char url[BUS_HOST_BYTES + 16];
	int size = snprintf(url, sizeof(url), is_ipv6 ? "ws://[%s]:1/" : "ws://%s:1/", host);

	if (size < 0 || (size_t)size >= sizeof(url))
		return false;
	return bus_address_parse(url, ret_address, NULL) == 0 &&
	       strcmp(ret_address->host, host) == 0 && ret_address->port == 1;
}

static void read_host(struct config_reader *reader, uint32_t websocket)
{
	static const char expected[] = "must be the name or address of a host";
	struct bus_address address;
	uint32_t value;
	cleanup_free char *host =
		read_setting_text(reader, websocket, "host", expected, BUS_DEFAULT_HOST, &value);

	if (!host || !*host)
		return;
	if (is_host(host, &address))
		memcpy(reader->config->bus.host, address.host, sizeof(address.host));
	else
		report_wrong(reader, value, expected, BUS_DEFAULT_HOST);
}

static bool is_route(const char *route, struct bus_address *ret_address)
{
	char url[BUS_PATH_BYTES + 16];
	int size = snprintf(url, sizeof(url), "ws://h:1%s", route);

	if (*route != '/' || size < 0 || (size_t)size >= sizeof(url))
		return false;
	return bus_address_parse(url, ret_address, NULL) == 0 &&
	       strcmp(ret_address->path, route) == 0;
}

static void read_route(struct config_reader *reader, uint32_t websocket)
{
	static const char expected[] = "must be a path that begins with '/'";
	struct bus_address address;
	uint32_t value;
	cleanup_free char *route =
		read_setting_text(reader, websocket, "route", expected, BUS_DEFAULT_PATH, &value);

	if (!route || !*route)
		return;
	if (is_route(route, &address))
		memcpy(reader->config->bus.path, address.path, sizeof(address.path));
	else
		report_wrong(reader, value, expected, BUS_DEFAULT_PATH);
}

static void read_port(struct config_reader *reader, uint32_t websocket)
{
	uint32_t value = config_reader_find(reader, websocket, "port");
	uint64_t port;

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) != JSON_NUMBER ||
		json_number_u64(&reader->tape, value, &port) != 0 || port > UINT16_MAX)
		report_wrong(reader, value, "must be a port from 1 to 65535", "8181");
	else if (port > 0)
		reader->config->bus.port = (uint16_t)port;
}

static void read_ssl(struct config_reader *reader, uint32_t websocket)
{
	uint32_t value = config_reader_find(reader, websocket, "ssl");
	enum json_type type;

	if (value == JSON_NONE)
		return;
	type = json_type_at(&reader->tape, value);
	if (type == JSON_TRUE || type == JSON_FALSE)
		reader->config->bus.is_tls = type == JSON_TRUE;
	else
		report_wrong(reader, value, "must be true or false", "false");
}

/* Refuse a key for encrypted messages: such a bus would ignore ours, and we could not read its. */
static void refuse_secret_key(struct config_reader *reader, uint32_t websocket)
{
	uint32_t value = config_reader_find(reader, websocket, "secret_key");

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) == JSON_STRING &&
		json_at(&reader->tape, value)->length == 0)
		return;
	config_reader_report(reader, DIAGNOSTIC_ERROR, value,
		"encrypted buses are not supported: remove secret_key (here and in the bus's "
		"other clients), or use wss or HiveMind to protect the bus");
	reader->is_refused = true;
}

void config_websocket_read(struct config_reader *reader, uint32_t value)
{
	reader->config->bus = bus_address_default;
	if (!config_reader_is_object(reader, value, "ws://127.0.0.1:8181/core is used"))
		return;
	read_host(reader, value);
	read_port(reader, value);
	read_route(reader, value);
	read_ssl(reader, value);
	refuse_secret_key(reader, value);
}
