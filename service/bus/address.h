/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUS_HOST_BYTES 256
#define BUS_PATH_BYTES 256

#define BUS_DEFAULT_HOST "127.0.0.1"
#define BUS_DEFAULT_PORT 8181
#define BUS_DEFAULT_PATH "/core"

/* Where a bus is: ws://HOST:PORT/PATH, wss:// with TLS. */
struct bus_address {
	char host[BUS_HOST_BYTES]; /* name or address; IPv6 without brackets */
	uint16_t port;             /* 0: any free one (embedded bus) */
	char path[BUS_PATH_BYTES]; /* begins with '/' */
	bool is_tls;
};

/* ws://127.0.0.1:8181/core */
extern const struct bus_address bus_address_default;

/* Read a URL; what it leaves out (port, path) is the default's. 0, or -EINVAL with *ret_why (may be
 * NULL) a constant text of what was expected. */
int bus_address_parse(const char *url, struct bus_address *ret_address, const char **ret_reason);

/* Write the URL, NUL-terminated. */
#define BUS_URL_BYTES (BUS_HOST_BYTES + BUS_PATH_BYTES + 16)
void bus_address_format(const struct bus_address *address, char ret_url[BUS_URL_BYTES]);
