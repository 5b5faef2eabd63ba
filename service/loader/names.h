/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/*
 * Names in the configuration that no tool has: a filter with a typing mistake hides or shows more
 * than its author thinks, so it is reported (contract.md, Filter).
 */

/* Report, in one warning for each key that has any, sorted: the names in the filter, the profiles,
 * approval.allow and `toolboxes.<id>.tools` that mean no tool of @catalogue, offered or skipped;
 * and the profiles that access rules give and that do not exist. */
void names_report_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Report the toolboxes that have settings and that were not found, as above; of a catalogue that is
 * complete: one without the toolboxes that an interpreter has yet to describe lacks theirs. */
void names_report_unknown_toolboxes(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);
