/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "ctl/options.h"
#include "ctl/session.h"

/* Print the calls of the service as they happen, and changes of its tools. After the loss of a
 * service, wait for it. With @is_own, the service belongs to this command: its log, on the same
 * terminal, has the changes, and its end is the end. Return only with an enum ctl_status, after a
 * complaint. */
int watch_calls(struct ctl_session *session, const struct ctl_options *options, bool is_own);
