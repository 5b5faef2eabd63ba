/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"
#include "config/http.h"

/*
 * The address of a service over HTTP, and the token for it.
 *
 *   http://HOST:PORT, https://HOST:PORT   without a port those of the schemes, 80 and 443;
 *                                         with or without a path
 *   unix:/PATH                            a Unix socket
 */

/* The longest URL, with its NUL. */
#define HTTP_URL_BYTES 512

struct http_address {
	char url[HTTP_URL_BYTES];          /* without a slash at its end */
	char path[CONFIG_HTTP_PATH_BYTES]; /* the Unix socket, or "" */
	char token[BUS_TOKEN_BYTES];       /* "": none */
	bool is_exposed;                   /* others can read the requests on their way */
};

/* Parse the value @text of the flag or variable @name, and read the token in the file @token_file,
 * which may be NULL. Return 0 with @ret_address, or CTL_USAGE after a complaint. */
int http_address_read(const char *name, const char *text, const char *token_file,
	struct http_address *ret_address);

/* Return the URL for a person: `unix:/PATH` for a Unix socket. The result is valid as long as
 * @address. */
const char *http_address_text(const struct http_address *address, char ret_text[HTTP_URL_BYTES]);
