/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"

/*
 * toolboxctl new ID --from-header H --library L, or --from-gir NAME-VERSION: write the manifest of
 * a C library into ID/ID.json. A GIR file names the header and the library, and answers questions.
 *
 *   H ─cc -E─▶ declarations ─▶ a plan for each function ─▶ a tool ─▶ read like any manifest
 *                                    │                                   │ held against H
 *                                    ▼                                   ▼
 *                                 left out, with the reason ◀──── refused: left out, too
 *
 * A tool that this toolboxctl would refuse is never written. Returns an enum ctl_status.
 */
int new_from_header(const char *id, const struct ctl_options *options);
