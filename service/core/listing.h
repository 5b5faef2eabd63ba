/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state.h"

/* What is offered, told: each answers the request in service->envelope. */

/* ovos.tools.list: definitions, in one of four formats. */
void listing_list(struct service *service);

/* ovos.tools.get: one definition. */
void listing_get(struct service *service);

/* ovos.persona.tools.discover: one response for each toolbox. */
void listing_discover(struct service *service);
