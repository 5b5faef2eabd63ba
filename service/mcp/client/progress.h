/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "json/tape.h"

/* Return the progress in the notification with the object @params: its share of the total, or -1:
 * unknown. */
double mcp_progress_share(const struct json_tape *tape, uint32_t params);
