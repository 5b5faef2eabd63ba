/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "bus/address.h"
#include "config/reader.h"

/* Read the object `websocket` at @section (JSON_NONE: there is none). A value that is absent,
 * null, "" or 0 is the default, as for ovos-bus-client. */
void config_websocket_read(
	struct config_reader *reader, uint32_t section, struct bus_address *ret_bus);
