/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "bus/embedded_parts.h"
#include "bus/upgrade.h"

/*
 * The door of the embedded bus. A request that bus/entry has read is judged in this order, and the
 * first refusal is its response:
 *
 *   Host, Origin (bus/admission) ─▶ an upgrade (bus/upgrade) ─▶ the token ─▶ a place
 */

/* Log a client that is most likely a web page trying to reach the device that shows it. */
static void log_stranger(struct embedded *embedded, enum admission_result result, const char *host,
	const char *origin)
{
	if (result == ADMISSION_ORIGIN)
		bus_warn(&embedded->bus.rates.peers,
			"refused a client whose Origin is '%s': it is not in embedded.origins",
			origin);
	else
		bus_warn(&embedded->bus.rates.peers,
			"refused a client that used the host '%s': it is not an address, not "
			"localhost, and not '%s' (websocket.host)",
			host, embedded->admission.name);
}

/* Return whether the headers beyond a page's choice are a client's. */
static bool check_stranger(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal)
{
	unsigned int n_origins;
	const char *origin = http_field(request, "Origin", &n_origins);
	const char *host = http_host(request);
	enum admission_result result = admission_check(&embedded->admission, host, origin);

	if (n_origins > 1)
		result = ADMISSION_ORIGIN;
	if (result == ADMISSION_GRANTED)
		return true;
	log_stranger(embedded, result, host, origin);
	*ret_refusal = (struct http_refusal){403, "",
		result == ADMISSION_ORIGIN
			? "This origin is not allowed (embedded.origins)."
			: "This host is not ours: use an address, localhost, or the configured "
			  "name."};
	return false;
}

static bool check_token(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal)
{
	if (admission_has_token(&embedded->admission, http_target(request),
		    http_field(request, "Authorization", NULL)))
		return true;
	*ret_refusal = (struct http_refusal){401, "WWW-Authenticate: Bearer\r\n",
		"The token is missing or wrong (embedded.token_file)."};
	if (strcmp(embedded->bus.address.token, BUS_TOKEN_UNKNOWN) == 0)
		ret_refusal->reason = "The configuration of toolboxd has mistakes, so it is not "
				      "known who may connect. Its log has them.";
	bus_warn(&embedded->bus.rates.peers, "refused a client: %s", ret_refusal->reason);
	return false;
}

bool embedded_admits(struct embedded *embedded, const struct http_reader *request,
	struct http_refusal *ret_refusal)
{
	return check_stranger(embedded, request, ret_refusal) &&
	       upgrade_check(request, ret_refusal) && check_token(embedded, request, ret_refusal);
}
