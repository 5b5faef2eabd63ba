/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "call/native/reading.h"

/*
 * What the keys of a `native` object mean together. @parameters is the token of the array that
 * @function was read from, @returns that of the object (JSON_NONE: there is none).
 *
 * Fills in who holds whose length and capacity, and how much fits. 0, NATIVE_E_REFUSED with the
 * mistake noted, or -ENOMEM.
 */
int native_rules_apply(struct reading *reading, uint32_t parameters, uint32_t returns,
	struct native_function *function);
