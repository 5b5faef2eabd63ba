/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/config_reader.h"

/* Read the object `toolboxes` at @value (JSON_NONE: there is none): what the configuration says of
 * toolboxes, by their ids. Keys that a toolbox itself reads are left to it. */
void config_toolboxes_read(struct config_reader *reader, uint32_t value);

void config_toolboxes_deinit(struct config *config);
