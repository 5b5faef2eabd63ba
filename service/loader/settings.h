/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "catalogue/package.h"
#include "config/config.h"

/*
 * Apply the configuration to @package, which was just read from its manifest and has no other
 * holder yet: the sandbox, limits and environment of `toolboxes.<id>` replace the manifest's, and
 * the rest of it is merged into the package's `config`. For kind python the `config` is by entry
 * point, each from the first that has it: the manifest, `toolboxes`, `PHAL.ovos-phal-plugin-tools`.
 * Return 0 or -ENOMEM.
 */
int settings_apply(const struct config *config, struct package *package);

/* Return whether the configuration lets the tool @name of the toolbox @toolbox_id be offered: the
 * toolbox is enabled and the filter does not leave the tool out. */
bool settings_offer(const struct config *config, const char *toolbox_id, const char *name);

/* Return whether it leaves out the toolbox @toolbox_id as a whole, whatever tools that has: no code
 * of it may run, not even to describe them. One of Python is known by the name of its @entry_point
 * (else NULL), too: it has no id before it is described. */
bool settings_leave_out(
	const struct config *config, const char *toolbox_id, const char *entry_point);

/* Return why settings_offer() is false for a tool, or for a whole toolbox (@name NULL): a constant
 * text, or one of @config. */
const char *settings_refusal(const struct config *config, const char *toolbox_id, const char *name);

/* Return whether it lets any tool of @toolbox be offered. One whose tools are not described yet
 * only has to be enabled. */
bool settings_offer_any(const struct config *config, const struct toolbox *toolbox);
