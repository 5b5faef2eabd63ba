/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/package.h"
#include "config/config.h"

/*
 * The operator's settings of single tools (contract.md, Configuration: `toolboxes.<id>.tools`), in
 * place of the manifest's or the description's, for every kind.
 *
 *   manifest, host ──▶ tools ── tool_settings_apply() ──▶ tools in force, with their definitions
 *
 * A package is shared with calls and with the next catalogue, so nothing is applied to it later:
 * a toolbox with changed settings is made anew, and an old toolbox is offered only with the
 * settings in force.
 */

/* Apply the settings of @config to the tools of @toolbox, made by this load, unless done already. 0
 * or -ENOMEM. */
int tool_settings_apply(const struct config *config, struct toolbox *toolbox);

/* Return the tool of @toolbox whose settings lower a risk that its messages force (kind bus), or
 * NULL: such a configuration is refused. */
const struct tool *tool_settings_find_lowered(
	const struct config *config, const struct toolbox *toolbox);

/* Return whether the tools of @toolbox have the settings of @config. */
bool tool_settings_hold(const struct config *config, const struct toolbox *toolbox);

/* Return whether the tools of all toolboxes of @package have the settings of @config. */
bool tool_settings_hold_in(const struct config *config, const struct package *package);
