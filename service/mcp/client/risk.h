/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"

/* The risks that a server can admit, as words: "read", "write", "execute", the worst last. */

/* Return the risk that a server admits for the tool @tool by its annotations. Its word for less
 * than the worst is believed when the tool is seen first, because the operator has chosen the
 * server, and can overrule it. */
const char *mcp_admitted_risk(const struct json_tape *tape, uint32_t tool);

/* Return the risk that the value at @token names, or NULL. @token may be JSON_NONE. */
const char *mcp_risk_at(const struct json_tape *tape, uint32_t token);

/* Return the worse one of two risks. */
const char *mcp_worse_risk(const char *one, const char *other);
