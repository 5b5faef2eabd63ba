/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/command.h"

/* Answer questions at this terminal until the person leaves. Return an enum ctl_status. */
int approvals_watch(const struct ctl_options *options);
