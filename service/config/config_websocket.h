/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/config_reader.h"

/* Read the object `websocket` at @value (JSON_NONE: there is none) into config->bus, as
 * ovos-bus-client does: what is absent, null, "" or 0 is the default. */
void config_websocket_read(struct config_reader *reader, uint32_t value);
