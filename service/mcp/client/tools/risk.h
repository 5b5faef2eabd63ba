/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"

/* The risks a server can admit, as words: "read", "write", "execute", the worst last. */

/* Return the risk admitted by a server for the tool @tool in its annotations. A risk below the
 * worst is believed at the first sight of the tool, because the operator has chosen the server, and
 * can overrule it. */
const char *mcp_admitted_risk(const struct json_tape *tape, uint32_t tool);

/* Return the risk named by the value at @token, or NULL. @token may be JSON_NONE. */
const char *mcp_risk_at(const struct json_tape *tape, uint32_t token);

/* Return the worse of two risks. */
const char *mcp_worse_risk(const char *one, const char *other);
