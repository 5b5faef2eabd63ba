/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "config/config.h"

/*
 * Names in the sandbox of the configuration without a setting (contract.md, Paths of the operator):
 * a name with a typing mistake opens no path, so it is reported (loader/warn/names.h).
 */

/* Keep in @package, just read, the names in `toolboxes.<id>.sandbox` without a setting: the
 * manifest does not have such a name, and no configuration has such a member. 0 or -ENOMEM. */
int warn_keep_unknown_settings(const struct config *config, struct package *package);
