/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* Answer ovos.tools.status (contract.md, Requests): what is loaded, in which state, and why. */
void status_answer(struct service *service);
