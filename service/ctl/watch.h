/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "ctl/options.h"
#include "ctl/session.h"

/* Print the calls of the service as they happen. With @stays, a service that goes away is waited for.
 * Return only with an enum ctl_status, after a complaint. */
int watch_calls(struct ctl_session *session, const struct ctl_options *options, bool stays);
