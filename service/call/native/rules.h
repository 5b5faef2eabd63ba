/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/reading.h"

/*
 * Check how the keys of a `native` object depend on each other. @parameters is the token of the
 * array of parameters, @returns the token of the object (JSON_NONE: no object).
 *
 * Fill in which parameter has the length and the capacity of which buffer, and the capacities. 0,
 * NATIVE_E_REFUSED with the mistake noted, or -ENOMEM.
 */
int native_rules_apply(struct reading *reading, uint32_t parameters, uint32_t returns,
	struct native_function *function);
