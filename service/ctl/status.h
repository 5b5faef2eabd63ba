/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/session.h"

/* Ask for the status, and print what was found and is not offered, or not served, and why. An enum
 * ctl_status. */
int ctl_print_skipped(struct ctl_session *session);

/* The same of a status, or a part of one, that is there. */
void ctl_print_why(const struct ctl_response *response);
