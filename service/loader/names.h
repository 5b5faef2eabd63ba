/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/*
 * Names of tools in the configuration that mean nothing: a filter with a typing mistake in it hides
 * or shows more than its author thinks, so it is told (contract.md, Filter).
 */

/* Report, in one warning for each key that has any, the names in tools_enabled, tools_disabled and
 * approval.allow that no tool of @catalogue, offered or left out, goes by. */
void names_report_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);
