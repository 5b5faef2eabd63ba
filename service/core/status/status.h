/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* Serve ovos.tools.status (contract.md, Requests): write the loaded toolboxes, their states, and
 * the reasons. */
void status_write(const struct service *service, struct answer *answer);
