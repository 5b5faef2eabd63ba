/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/session.h"

/*
 * toolboxctl status: show the state of the service and its toolboxes.
 *
 *   status          ovos.tools.status ─▶ overview: sums, a table of toolboxes, what is not offered
 *   status TOOLBOX  the same of one   ─▶ describe: its state, a table of its tools, its last output
 *   --watch         again each second, in place of what was there
 */

/* Append what `status` with these @options shows. Return false, with nothing appended, when it
 * names a toolbox missing in @response. */
bool status_append(
	const struct ctl_options *options, const struct ctl_response *response, struct buffer *out);

/* Append the state of the service and all its toolboxes. */
void overview_append(const struct ctl_response *response, struct buffer *out);

/* Append the state of the toolbox @id, of which @response is the status, as status_append()
 * does. */
bool describe_append(const struct ctl_response *response, const char *id, struct buffer *out);

/* Show the status again and again until the person leaves. Return an enum ctl_status. */
int status_watch(struct ctl_session *session, const struct ctl_options *options);
