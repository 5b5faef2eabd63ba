/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/session/parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "ctl/terminal.h"
#include "util/cleanup.h"
#include "util/text/text.h"

/* The bus of the service, and the token that it is shown. */

static int read_url(const char *name, const char *url, struct bus_address *ret_address)
{
	const char *reason = NULL;
	cleanup_free char *shown = NULL;

	if (bus_address_parse(url, ret_address, &reason) == 0)
		return 0;
	shown = text_mask_url_dup(url);
	terminal_complain(
		"%s must be the URL of a bus, like ws://127.0.0.1:8181/core, not '%s': %s", name,
		shown ? shown : TEXT_MASK, reason);
	return CTL_USAGE;
}

/* Show the configured token to a bus on this device or on the configured host, and to no other. */
static void add_token(struct bus_address *address)
{
	const struct config_flags flags = {0};
	struct bus_address configured;

	if (config_read_bus(&flags, NULL, NULL, &configured) != 0)
		return;
	if (config_http_host_is_loopback(address->host) ||
		strcasecmp(address->host, configured.host) == 0)
		memcpy(address->token, configured.token, sizeof(address->token));
}

static int read_url_with_token(const char *name, const char *url, struct bus_address *ret_address)
{
	int r = read_url(name, url, ret_address);

	if (r == 0)
		add_token(ret_address);
	return r;
}

int session_find_bus(const struct ctl_options *options, struct bus_address *ret_address)
{
	const struct config_flags flags = {0};
	const char *variable = getenv("TOOLBOXD_BUS");

	if (options->bus)
		return read_url_with_token("--bus", options->bus, ret_address);
	if (variable && *variable)
		return read_url_with_token("TOOLBOXD_BUS", variable, ret_address);
	return config_read_bus(&flags, terminal_complain_error, NULL, ret_address) == 0
		       ? 0
		       : CTL_NO_BUS;
}
