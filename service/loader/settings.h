/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "config/config.h"

/*
 * Let the configuration have its way with @toolbox, which was just read from its manifest and is
 * nobody else's yet: the sandbox, limits and environment of `toolboxes.<id>` in the place of the
 * manifest's, and what is left of it merged into the toolbox's `config`. That of the kind python is
 * by entry points, each from the first that has it: the manifest, `toolboxes`,
 * `PHAL.ovos-phal-plugin-tools`. 0 or -ENOMEM.
 */
int settings_apply(const struct config *config, struct toolbox *toolbox);
