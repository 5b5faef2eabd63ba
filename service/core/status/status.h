/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* Serve ovos.tools.status (contract.md, Requests): write what is loaded, in which state, and
 * why. */
void status_write(const struct service *service, struct answer *answer);
