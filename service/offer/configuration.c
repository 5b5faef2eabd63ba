/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "config/remembered.h"
#include "offer/reload.h"
#include "util/diagnostic.h"
#include "util/log.h"

/*
 * The configuration at a reload: read again, or kept.
 *
 *   files ─▶ read ─┬─ open ───▶ in force, but for what only a start can change
 *                  └─ closed ─┬─ another one is in force ─▶ that one stays
 *                             └─ a closed one is, since the start ─▶ still nothing is offered
 *
 * Only a start reads the keys with a ¹ in contract.md, Configuration. When they differ after a
 * start that was closed, the service starts again. Mistakes go to the log and, as `configuration`,
 * into the answers to reload and status requests.
 */

/* Put @config (taken over) in force. */
static void use_configuration(struct reload *reload, struct config *config)
{
	struct config *in_force = reload->parts.config;

	config->bus = in_force->bus;
	config->limits = in_force->limits;
	config_http_keep(&config->http, &in_force->http);
	/* A closed start did not know these. */
	if (!config->closed && in_force->closed)
		reload->starts_again = config->start_digest != in_force->start_digest;
	config->start_digest = in_force->start_digest;
	config_deinit(in_force);
	*in_force = *config;
	log_setup(in_force->log_level, in_force->log_format);
	expiry_set(&reload->expiry, remembered_next_end(&in_force->disabled));
	reload->handler.configured(reload->data);
}

void reload_configuration(struct reload *reload)
{
	static const char kept[] = "the configuration in force stays as it was";
	static const char offered[] = "nothing is offered until this is mended";
	const struct diagnostic_sink sink = {mistakes_take, &reload->mistakes};
	const struct config *in_force = reload->parts.config;
	bool was_closed = in_force->closed != NULL;
	bool may_replace;
	struct config config = {0};
	int r;

	mistakes_begin(&reload->mistakes);
	r = config_read(reload->flags, mistakes_take, &reload->mistakes, &config);
	if (r < 0)
		diagnostic_report(&sink, DIAGNOSTIC_ERROR, NULL, 0, "", "%s", strerror(-r));
	may_replace = r == 0 && (!config.closed || was_closed) &&
		      config_http_may_replace(&config.http, &in_force->http, &sink);
	if (!may_replace || config.closed)
		diagnostic_report(
			&sink, DIAGNOSTIC_ERROR, NULL, 0, "", "%s", was_closed ? offered : kept);
	if (r == 0)
		config_report_absent_folders(&config, DIAGNOSTIC_WARNING, &sink);
	mistakes_end(&reload->mistakes);
	if (may_replace)
		use_configuration(reload, &config);
	else
		config_deinit(&config);
}
