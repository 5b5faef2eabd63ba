/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/reader.h"

/*
 * `callers`: how many calls a caller may make (contract.md, Limits per caller).
 *
 *   [{"match": {"source": "kitchen*"}, "in_flight": 2, "per_minute": 60, "burst": 10}, …]
 *
 * A value of another shape closes the configuration.
 */

/* The range of the numbers of a rule. */
#define CALLERS_NUMBER_MAX 1000000

/* Read the list at @value (JSON_NONE: there is none) into reader->config. */
void config_callers_read(struct config_reader *reader, uint32_t value);

/* Free the rules of @config. */
void config_callers_deinit(struct config *config);
