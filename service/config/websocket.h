/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/* Read the object `websocket` at @value (JSON_NONE: there is none) into reader->config->bus. A
 * value that is absent, null, "" or 0 is the default, as for ovos-bus-client. */
void config_websocket_read(struct config_reader *reader, uint32_t value);
