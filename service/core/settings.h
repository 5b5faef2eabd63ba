/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "registry/toolbox.h"

/* Let the configuration (`toolboxes.<id>`) have its way with @toolbox, which was just read from its
 * manifest and is nobody else's yet: sandbox, limits and environment in the place of the
 * manifest's, and what is left merged into its `config`. @settings may be NULL. 0 or -ENOMEM. */
int settings_apply(const struct config_toolbox *settings, struct toolbox *toolbox);
