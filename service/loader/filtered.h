/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/* Note in @catalogue the tools of @toolbox that @config leaves out, each with the reason, and that
 * the toolbox is disabled if these are all of its tools. 0 or -ENOMEM. */
int filtered_note(
	const struct config *config, const struct toolbox *toolbox, struct catalogue *catalogue);
