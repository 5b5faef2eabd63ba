/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The caller of a request, and whether a page in a browser has sent it.
 *
 * A browser lets any page send requests to any address. Such a page cannot choose two headers:
 *
 *   Origin   the site that the page comes from. A program that is no browser sends none.
 *   Host     the name by which the client reached us. A page whose own domain name was made to resolve to
 *            this device (DNS rebinding) sends that name.
 *
 * So both have to be names of this device: localhost, 127.0.0.0/8 or [::1].
 */

/* The caller of a request, as the door knows it. */
struct http_identity {
	const char *source;  /* `http:ADDRESS` */
	const char *profile; /* which narrows what it may use; NULL: none */
	bool is_admin;
};

/* Return whether @host, a name or address with or without a port, is one of this device. */
bool identity_host_is_local(const char *host);

/* Return whether @origin is that of a page which this device serves itself on @port. */
bool identity_origin_is_ours(const char *origin, uint16_t port);
