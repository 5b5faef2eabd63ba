/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/config_reader.h"

/* Read every key of the object @toolboxd (JSON_NONE: there is none) into reader->config: what is
 * there and right, else its default. Keys that are not known get a warning. */
void config_settings_read(struct config_reader *reader, uint32_t toolboxd);
