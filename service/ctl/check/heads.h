/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "util/diagnostic.h"

/* Advise about comments at the top of the drop-in program of @tool that look as if they define something
 * and do not: `# arg NAME`, `# risk execute`, `# descripton: …` (manifest/dropin_definition.h). */
void heads_advise(const struct tool *tool, const struct diagnostic_sink *sink);
