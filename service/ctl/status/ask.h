/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/session.h"

/* Requests of the status. */

/* Request the status, of @toolbox_id only unless that is NULL. Return 0, or an enum ctl_status
 * after a complaint. */
int status_ask(
	struct ctl_session *session, const char *toolbox_id, struct ctl_response *ret_response);

/* Complain unless a toolbox is called @id, offered or not, with a near name. Return 0 or an enum
 * ctl_status. */
int status_expect_toolbox(struct ctl_session *session, const char *id);

/* Return the toolbox named by the command line, or NULL. */
const char *status_toolbox(const struct ctl_options *options);
