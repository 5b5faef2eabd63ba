/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/response.h"
#include "ctl/session.h"

/* Ask the service to read the configuration and the registration folders again (ovos.tools.reload).
 * Without --timeout, a live service has a minute: it starts a host for each changed toolbox, and
 * waits for its description. Return 0, or an enum ctl_status after a complaint. */
int ctl_reloading_ask(struct ctl_session *session, const struct ctl_options *options,
	struct ctl_response *ret_response);
