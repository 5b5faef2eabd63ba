/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/address.h"
#include "config/http_tokens.h"
#include "util/diagnostic.h"
#include "util/buffer.h"
#include "util/network.h"
#include "util/text/text_list.h"

struct config_reader;

/*
 * `toolboxd.http`: who may reach the tools over HTTP (contract.md, HTTP).
 *
 *   listen   127.0.0.1:8090, [::1]:8090, localhost:8090, unix:/run/toolboxd/http
 *   tokens   {name, token_sha256 | token_file, profile, admin}, with those of tokens.json
 *   tls      {cert, key}: every address but Unix sockets speaks TLS
 *
 *   public_url       https://home.example/tools: the URL of `/` for clients of a proxy
 *   trusted_proxies  127.0.0.1, 10.0.0.0/8: proxies whose X-Forwarded-… lines are believed
 *                    (http/forwarded.h)
 *
 * An address beyond the loopback needs tokens and TLS, or `insecure`: else no service starts. A
 * `public_url` beyond the loopback needs tokens and https in the same way. A value of another shape
 * closes the configuration. While it is closed, nothing listens.
 */

#define CONFIG_HTTP_DEFAULT "127.0.0.1:8090"

/* Addresses of `listen`. */
#define CONFIG_HTTP_LISTEN_MAX 16

/* The bytes of `public_url`. */
#define CONFIG_HTTP_URL_BYTES_MAX 1024

/* The bytes of the path of a Unix socket, with its NUL (unix(7)). */
#define CONFIG_HTTP_PATH_BYTES 108

/* One of `listen`. */
struct config_http_address {
	char path[CONFIG_HTTP_PATH_BYTES]; /* a Unix socket; else "" */
	char host[BUS_HOST_BYTES];         /* name or address; an IPv6 address without brackets */
	uint16_t port;                     /* 0: any free port */
};

/* `mcp_names`: how /mcp lists a tool. */
enum config_mcp_names {
	CONFIG_MCP_NAMES_QUALIFIED, /* TOOLBOX__TOOL */
	CONFIG_MCP_NAMES_BARE,      /* TOOL, where no other tool of the caller has this name */
};

struct config_http_limits {
	uint32_t connections;
	uint32_t per_address;  /* connections of one token, user or address */
	size_t header_bytes;   /* all fields of a request */
	size_t body_bytes;     /* the body of a request */
	uint64_t first_byte_s; /* wait for the first byte of a connection's first request */
	uint64_t request_s;    /* for a whole request */
	uint64_t idle_s;       /* between two requests */
	uint32_t streams;      /* open event streams */
};

struct config_http {
	struct config_http_address *addresses; /* NULL: nothing listens */
	size_t n_addresses;
	struct http_tokens tokens;
	bool needs_token; /* there is a list of tokens, which may be empty */
	enum config_mcp_names mcp_names;
	char *profile;  /* limits callers without a token */
	bool has_hosts; /* @hosts is set; else those are the default ones */
	bool has_origins;
	struct text_list hosts;   /* names and addresses, IPv6 without brackets */
	struct text_list origins; /* scheme://host[:port] */
	char *public_url;         /* without a slash at its end; or NULL */
	size_t origin_size;       /* bytes of its scheme, host and port */
	char public_host[BUS_HOST_BYTES];
	struct network *proxies;
	size_t n_proxies;
	char *tls_cert; /* paths of PEM files: both, or none */
	char *tls_key;
	bool is_insecure;
	size_t lazy_over; /* a longer list of MCP is lazy; SIZE_MAX: none is */
	struct config_http_limits limits;
};

/* Parse an element of `listen`. Return 0, or -EINVAL with *ret_reason a constant text. */
int config_http_address_parse(
	const char *text, struct config_http_address *ret_address, const char **ret_reason);

/* Return whether @host, a name or an address, means the loopback. */
bool config_http_host_is_loopback(const char *host);

/* Append the URL of @address, one of @http: http://127.0.0.1:8090, https://…, or unix:/PATH. */
void config_http_address_write(const struct config_http *http,
	const struct config_http_address *address, struct buffer *out);

/* Read the section at @section (JSON_NONE: there is none) into @http, zeroed. */
void config_http_read(struct config_reader *reader, uint32_t section, struct config_http *http);

/* Return whether @address is one of a trusted proxy. */
bool config_http_trusts(const struct config_http *http, const struct in6_addr *address);

/* Look at all of them together, after the files of tokens were read; @args_bytes is
 * `limits.args_bytes`. Reports are about the value at @token: the section `http` or, without one,
 * `toolboxd`. */
void config_http_check(
	struct config_reader *reader, uint32_t token, size_t args_bytes, struct config_http *http);

/* Return whether @http, read again, may replace @in_force, whose addresses stay: an address in
 * reach of other devices needs tokens and TLS as at a start. Else report the missing parts to
 * @sink. */
bool config_http_may_replace(const struct config_http *http, const struct config_http *in_force,
	const struct diagnostic_sink *sink);

/* Replace in @http the addresses and limits, read only by a start, by the values of @in_force; and
 * the files of TLS, when either has none: TLS belongs to the addresses. */
void config_http_keep(struct config_http *http, struct config_http *in_force);

/* Forget the addresses: nothing listens while the configuration is closed. */
void config_http_close(struct config_http *http);

void config_http_deinit(struct config_http *http);
