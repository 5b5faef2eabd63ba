/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/session.h"

/* Request the status, and print what was found but is not offered, and why. Return an enum
 * ctl_status. */
int ctl_print_skipped(struct ctl_session *session);

/* Print the same from @response, a status or a part of one. */
void ctl_print_reason(const struct ctl_response *response);
