/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "config/config.h"
#include "loader/sandbox_max.h"

/*
 * Paths of the operator in the sandbox of a plugin (contract.md, Paths of the operator).
 *
 *   manifest   "config": {"roots": ["~"]}, "sandbox": {"read": ["$roots"]}
 *   config     toolboxes.ID.roots: ["~/notes", "/srv/data"]
 *                    │
 *                    ▼
 *   sandbox    read    /home/me/notes /srv/data
 *              hidden  secrets, which no path of the operator opens: /home/me/.ssh, …
 *              kept    files that programs obey, which no path of the operator lets be written
 *   config     roots: the same absolute paths; fences: {"hidden": […], "kept": […]}
 *
 * One name is no setting, but the state folder of the toolbox (loader/operator/state_folder.h).
 *
 * The kernel knows the fences as paths. The toolbox gets them as names, too (".ssh", "a/b": at any
 * depth), since landlock cannot forbid what does not exist yet.
 */

enum operator_paths_status {
	OPERATOR_PATHS_E_REFUSED = 1, /* a setting is no path and no list of paths, or there is no
	                               * state folder */
};

/* Return whether @package, of an earlier load, would be the same by @config: its settings, the
 * fences around its paths (a reload may name another secret), and the settings of its tools. The
 * members of a package of kind python are looked at one by one (tool_settings_hold()). */
bool operator_settings_hold(const struct config *config, const struct package *package);

/* Resolve the settings named by the sandbox of @package, just read and with the configuration
 * applied. Without such a name nothing is done. 0, OPERATOR_PATHS_E_REFUSED with @ret_refusal, or
 * -ENOMEM. */
int operator_paths_resolve(
	const struct config *config, struct package *package, struct sandbox_refusal *ret_refusal);
