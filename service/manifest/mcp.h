/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "json/tape.h"
#include "util/diagnostic.h"

/* Kind `mcp`: how the server is run, and the operator's choice among its tools (docs/mcp.md). */

/* Read `mcp`, `include`, `exclude`, `pin` and `tools`, of the right shape, into @package. 0 or
 * -ENOMEM. */
int manifest_mcp_read(const struct json_tape *tape, const char *folder, struct package *package,
	struct diagnostics *problems);

/* Return the mode named by the value @value of `pin` (JSON_NONE: none); any other value is
 * block. */
enum mcp_pin_mode manifest_pin_mode(const struct json_tape *tape, uint32_t value);
