/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/* Read the object `toolboxes` at @value (JSON_NONE: there is none) into reader->config: the
 * settings of each toolbox, by its id. Foreign keys are kept for the toolbox itself. */
void config_toolboxes_read(struct config_reader *reader, uint32_t value);

/* Free config->toolboxes. */
void config_toolboxes_deinit(struct config *config);
