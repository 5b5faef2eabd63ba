/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUS_HOST_BYTES 256
#define BUS_PATH_BYTES 256

/* The longest token, with its NUL. */
#define BUS_TOKEN_BYTES 257

/* The token of an embedded bus while its own is not known: a control character, which no client can
 * show. */
#define BUS_TOKEN_UNKNOWN "\x01"

#define BUS_DEFAULT_HOST "127.0.0.1"
#define BUS_DEFAULT_PORT 8181
#define BUS_DEFAULT_PATH "/core"

/* The address of a bus: ws://HOST:PORT/PATH, or wss:// with TLS. */
struct bus_address {
	char host[BUS_HOST_BYTES]; /* name or address; an IPv6 address without brackets */
	uint16_t port;             /* 0: any free port (embedded bus only) */
	char path[BUS_PATH_BYTES]; /* begins with '/' */
	bool is_tls;
	char token[BUS_TOKEN_BYTES]; /* shown by clients, required by the embedded bus; "": none */
};

/* ws://127.0.0.1:8181/core */
extern const struct bus_address bus_address_default;

/* Parse @url. Take a missing port or path from bus_address_default. Return 0, or -EINVAL with
 * *ret_reason (may be NULL) a constant text with the expected form. */
int bus_address_parse(const char *url, struct bus_address *ret_address, const char **ret_reason);

/* Write the URL of @address to @ret_url, NUL-terminated, for people: without its token, and with
 * `***` as the value of each parameter of its query, perhaps a token. */
#define BUS_URL_BYTES (BUS_HOST_BYTES + 3 * BUS_PATH_BYTES + 16)
void bus_address_format(const struct bus_address *address, char ret_url[BUS_URL_BYTES]);

/* Put `***` in the place of the token of @address, and of the values in its query, in @text, which
 * comes from the bus. */
void bus_address_mask(const struct bus_address *address, char *text);
