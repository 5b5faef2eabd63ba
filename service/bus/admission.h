/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Admission of clients to the embedded bus.
 *
 * The bus of a device has no password unless it is given a token, and a browser lets any page open
 * a websocket to any server without asking that server. So an open page on the device, or in its
 * network if the bus listens there, could call every tool. A page cannot choose the value of two
 * headers:
 *
 *   Origin   the site of the page (RFC 6455 §10.2). It must be in the list of allowed origins. A
 *            client other than a browser sends no Origin, or the address of its connection (as
 *            websocket-client for Python, below ovos-bus-client, does). This address is allowed,
 *            too: it serves no pages, so no page has it as its origin.
 *   Host     the name by which the client reached us. A page whose own domain name was made to
 *            resolve to this device (DNS rebinding) sends that name.
 */
struct admission {
	char **origins; /* owned: scheme://host[:port], as browsers write them */
	size_t n_origins;
	const char *name;  /* borrowed: the configured host of the bus */
	const char *token; /* borrowed: the token required of every client; "": no token */
};

enum admission_result {
	ADMISSION_GRANTED,
	ADMISSION_ORIGIN, /* refused: the Origin is not allowed */
	ADMISSION_HOST,   /* refused: the Host is not ours */
};

/* Copy the @n_origins texts at @origins; @name and @token are borrowed. Return 0 or -ENOMEM. */
int admission_init(struct admission *admission, const char *const *origins, size_t n_origins,
	const char *name, const char *token);

/* Free the copies. A zeroed @admission is accepted. */
void admission_deinit(struct admission *admission);

/* Judge a request by the values of its headers. @origin is NULL for a request without Origin. @host
 * is ours when it is an IP address, `localhost` or the configured name, each with or without a
 * port. */
enum admission_result admission_check(
	const struct admission *admission, const char *host, const char *origin);

/* Return whether a request shows a needed token: as `token=` in the query of @target, or as
 * `Bearer` in @authorization, which is NULL when the request has no such header. The time of the
 * comparison does not depend on the number of right characters. */
bool admission_has_token(
	const struct admission *admission, const char *target, const char *authorization);
