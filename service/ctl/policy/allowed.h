/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"

/* List the tools that never ask, since when and by whose word. Return an enum ctl_status. */
int allowed_list(const struct ctl_options *options);
