/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/reading.h"

/*
 * Check how the keys of a `native` object depend on each other. @parameters is the token of the
 * array that @function was read from, @returns that of the object (JSON_NONE: there is none).
 *
 * Fill in which parameter has the length and the capacity of which buffer, and the capacities. 0,
 * NATIVE_E_REFUSED with the mistake noted, or -ENOMEM.
 */
int native_rules_apply(struct reading *reading, uint32_t parameters, uint32_t returns,
	struct native_function *function);
