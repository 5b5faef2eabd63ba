/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "json/tape.h"
#include "util/diagnostic.h"

/* Kind `mcp`: how the server is run, and the operator's choice among its tools (docs/mcp.md). */

/* Read `mcp`, `include`, `exclude` and `tools`, of the right shape, into @package. 0 or -ENOMEM. */
int manifest_mcp_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems);
