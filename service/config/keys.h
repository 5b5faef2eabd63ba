/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/*
 * The keys under `toolboxd`, as a table: how each is read, where its value is stored, its range and
 * its default.
 *
 * A wrong value is reported and replaced by the default, unless it decides who may call or what a
 * process may do: then it closes the configuration (config.h).
 */

/* Read every key of the object at @toolboxd (JSON_NONE: there is none) into reader->config, and
 * report each unknown key. */
void config_keys_read(struct config_reader *reader, uint32_t toolboxd);
