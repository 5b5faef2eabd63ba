/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"

/*
 * toolboxctl new --kind mcp: write the manifest of a server of the Model Context Protocol into the
 * folder ID.
 *
 *   --command, --url ─▶ manifest ─▶ the server is started, and asked for its tools ─▶ table
 *                          ▲                                                  │
 *                          └────────────── the risk of each tool ◀────────────┘
 *
 * Without an answer of the server there is no folder. Returns an enum ctl_status.
 */
int new_mcp(const char *id, const struct ctl_options *options);
