/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/reader.h"

/*
 * `access`: which profile a caller has (contract.md, Profiles).
 *
 *   [{"match": {"source": "kitchen*"}, "profile": "kids"}, …]      the first that matches counts
 *
 * Any other shape closes the configuration.
 */

/* Read the list at @value (JSON_NONE: there is none) into reader->config. */
void config_access_read(struct config_reader *reader, uint32_t value);

/* Free the rules of @config. */
void config_access_deinit(struct config *config);
