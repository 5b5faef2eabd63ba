/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/guest/guests.h"
#include "core/request/request_scope.h"

/* The requests of guests about themselves. */

/* Serve ovos.tools.register and ovos.tools.unregister: @answer is taken over while the guest
 * waits. */
void guests_register(
	struct guests *guests, const struct request_scope *scope, struct answer *answer);
void guests_unregister(
	struct guests *guests, const struct request_scope *scope, struct answer *answer);
