/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/*
 * The operator's settings of single tools, `toolboxes.<id>.tools.<name>`, for tools of every kind.
 * They decide on callers and tools, so an unknown key and a wrong value close the configuration.
 */

/* Read the object `tools` of `toolboxes.<id>` at @value (JSON_NONE: there is none) into
 * @settings. */
void config_tools_read(
	struct config_reader *reader, uint32_t value, struct config_toolbox *settings);

/* Free the settings of the tools of @settings. */
void config_tools_deinit(struct config_toolbox *settings);
