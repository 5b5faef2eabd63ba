/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"

/* List what allow.json has: each allowance, since when and by whom. Return an enum ctl_status. */
int allowed_list(const struct ctl_options *options);
