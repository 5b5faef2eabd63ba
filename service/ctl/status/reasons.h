/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/session.h"

/* The toolboxes and tools not offered, and the reasons. @toolbox_id: only of this one, NULL: of
 * all. */

/* Append the tables of what has failed, and of what is not offered, each after an empty line. */
void reasons_append_skipped(const struct ctl_response *response, struct buffer *out);

/* Append the second of these tables. */
void reasons_append_not_offered(const struct ctl_response *response, struct buffer *out);

/* Append a table of the toolboxes with a reason for their state, after an empty line. */
void reasons_append_states(const struct ctl_response *response, struct buffer *out);

/* Print all of it from @response, a status or a part of one. */
void reasons_print(const struct ctl_response *response);

/* Request the status, and print all of it. Return an enum ctl_status. */
int reasons_ask(struct ctl_session *session, const char *toolbox_id);
