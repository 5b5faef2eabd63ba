/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/*
 * Names in the configuration without a tool: a filter with a typing mistake hides or shows more
 * than its author thinks, so the name is reported (contract.md, Filter).
 */

/* Report, sorted, in one warning for each key: the names in the filter, the profiles,
 * approval.allow and `toolboxes.<id>.tools` without a tool of @catalogue, offered or skipped; the
 * names in `toolboxes.<id>.sandbox` without a setting; and the profiles given by access rules, but
 * not defined. */
void warn_unknown(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Report the toolboxes with settings that were not found, as above. For complete catalogues only:
 * until an interpreter has described its toolboxes, they are missing. */
void warn_unknown_toolboxes(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);
