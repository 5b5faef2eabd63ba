/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "manifest/manifest.h"
#include "mcp/client/tools/pins.h"

/*
 * The tools of a server, as a toolbox of kind `mcp` offers them.
 *
 *   LOADED {"list": [tool as the server sent it, …]} ─┐
 *   the operator's choice ────────────────────────────┴─▶ mcp/client/tools/tools
 *                                                           └─▶ entries ─▶ tools, each read alone
 */

/* Give the toolbox of @package the tools of the member `list` of the object @described. A wrong
 * tool is left out (package->left_out). @pins keep each risk from falling; NULL: none. 0,
 * MANIFEST_E_REFUSED with the problems, or -ENOMEM. */
int manifest_take_listed(struct manifest_reader *reader, const struct json_tape *described,
	const struct mcp_pins *pins, struct package *package, struct diagnostics *problems);
