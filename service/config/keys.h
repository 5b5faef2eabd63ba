/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/*
 * The keys under `toolboxd`, as a table: for each the way of reading, the place of the value, the
 * range and the default.
 *
 * A wrong value is reported and replaced by the default, unless it decides on callers or on the
 * rights of a process: then it closes the configuration (config.h).
 */

/* Read every key of the object at @toolboxd (JSON_NONE: there is none) into reader->config, and
 * report each unknown key. */
void config_keys_read(struct config_reader *reader, uint32_t toolboxd);
