/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "ctl/session.h"

/* Print what a lazy list of MCP (mcp/server/lazy.h) saves of a model's context. Return 0, or an
 * enum ctl_status after a complaint. */
int saving_print(struct ctl_session *session, const struct ctl_options *options);
