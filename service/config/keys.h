/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/reader.h"

/*
 * The keys under `toolboxd`, as a table: how each is read, where its value is stored, its range and
 * its default.
 *
 * A wrong value is reported and replaced by the default, unless it restricts calls: then the daemon
 * does not start.
 */

/* Read every key of the object at @toolboxd (JSON_NONE: there is none) into reader->config, and
 * report a warning for each unknown key. */
void config_keys_read(struct config_reader *reader, uint32_t toolboxd);
